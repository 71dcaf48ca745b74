package io.afterbay.storm.it.job;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.function.IntConsumer;

/**
 * Numbers in a file, a line of nine digits each. A number is there once {@link #append} has
 * returned, also if the process is killed then: it is the kernel's.
 */
final class NumberLog {
    private static final int DIGITS = 9;
    private static final int LINE = DIGITS + 1;

    private final FileChannel file;

    private NumberLog(FileChannel file) {
        this.file = file;
    }

    static NumberLog appendTo(Path file) throws IOException {
        return new NumberLog(
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
    }

    /** By one write, which a kill does not part. */
    void append(int number) throws IOException {
        String line = String.format(Locale.ROOT, "%0" + DIGITS + "d\n", number);
        file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
    }

    static int count(Path file) throws IOException {
        return Files.exists(file) ? (int) (Files.size(file) / LINE) : 0;
    }

    /** Hands over each number; none if there is no such file. */
    static void read(Path file, IntConsumer numbers) throws IOException {
        if (Files.exists(file)) {
            Files.readString(file).lines().mapToInt(Integer::parseInt).forEach(numbers);
        }
    }
}
