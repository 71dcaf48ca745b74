package io.afterbay.cli.doctor.reading;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import java.util.zip.GZIPInputStream;

/** Files that may have been compressed when they were put away. */
final class InputFile {
    private static final int BUFFER = 1 << 16;

    private InputFile() {}

    /** The bytes of a file, unpacked if its name ends with {@code .gz}. */
    static InputStream open(Path file) throws IOException {
        return open(file, bytes -> {});
    }

    /**
     * The bytes of a file, unpacked if its name ends with {@code .gz}.
     *
     * @param read takes how many bytes were read of the file itself, piece by piece
     */
    static InputStream open(Path file, LongConsumer read) throws IOException {
        InputStream in = new Counted(Files.newInputStream(file), read);
        if (!file.getFileName().toString().endsWith(".gz")) {
            return in;
        }
        try {
            return new GZIPInputStream(in, BUFFER);
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    private static final class Counted extends FilterInputStream {
        private final LongConsumer count;

        Counted(InputStream in, LongConsumer count) {
            super(in);
            this.count = count;
        }

        @Override
        public int read() throws IOException {
            int value = super.read();
            count.accept(value < 0 ? 0 : 1);
            return value;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            int size = super.read(bytes, from, length);
            count.accept(Math.max(0, size));
            return size;
        }
    }
}
