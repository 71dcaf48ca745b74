package io.afterbay.doctor.reading;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import java.util.zip.GZIPInputStream;

/** Files that may have been compressed when they were put away. */
final class InputFile {
    private static final int BUFFER = 1 << 16;

    /** Two characters. */
    private static final int UTF_16_BYTES = 4;

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

    /**
     * The same, of a file that has to be in ASCII or UTF-8.
     *
     * @throws IOException if it is in UTF-16, with the way out
     */
    static InputStream openText(Path file, LongConsumer read) throws IOException {
        PushbackInputStream in = new PushbackInputStream(open(file, read), UTF_16_BYTES);
        try {
            byte[] head = in.readNBytes(UTF_16_BYTES);
            in.unread(head);
            if (isUtf16(head)) {
                throw new IOException(
                        "it is in UTF-16, as some tools of Windows write; convert it with iconv -f"
                                + " UTF-16 -t UTF-8, and name the result");
            }
            return in;
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    /** By its mark; or two characters of which each has a byte that is 0. */
    private static boolean isUtf16(byte[] head) {
        if (head.length < UTF_16_BYTES) {
            return false;
        }
        int mark = (head[0] & 0xff) << 8 | head[1] & 0xff;
        return mark == 0xfeff
                || mark == 0xfffe
                || head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0
                || head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0;
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
