package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A log of ten times the memory of the JVM that reads it: there is no room to keep it. */
class LogReadingMemoryTest {
    private static final int MEMORY_MIB = 20;
    private static final long LOG_BYTES = 10L * MEMORY_MIB << 20;

    /** What a database writes between two flushes; the rest is no event. */
    private static final int LINES_PER_FLUSH = 500;

    /** The program that reads. */
    public static final class Reading {
        private Reading() {}

        /** Ends with an error if not everything was read. */
        public static void main(String[] args) throws IOException {
            GeneratedLog log = new GeneratedLog();
            InstanceName name = new InstanceName(Engine.ROCKSDB, "stage", "instance", "key");
            LogReading.Logs logs = LogReading.read(name, log);
            int flushes = logs.instances().get(0).flushes().size();
            if (logs.tally().bytes() < LOG_BYTES || flushes != log.flushes || flushes < 1000) {
                throw new IllegalStateException(logs.tally().bytes() + " B, " + flushes);
            }
        }
    }

    /** Lines of a log, made as they are read. */
    private static final class GeneratedLog extends InputStream {
        private byte[] line = new byte[0];
        private int position;
        private long bytes;
        private long lines;
        private int flushes;

        @Override
        public int read() {
            if (position == line.length && !next()) {
                return -1;
            }
            return line[position++];
        }

        private boolean next() {
            if (bytes >= LOG_BYTES && lines % LINES_PER_FLUSH == 2) {
                return false;
            }
            line = text().getBytes(US_ASCII);
            position = 0;
            bytes += line.length;
            lines++;
            return true;
        }

        private String text() {
            long micros = 1_763_866_800_000_000L + lines * 1000;
            return switch ((int) (lines % LINES_PER_FLUSH)) {
                case 0 -> event(micros, "flush_started");
                case 1 -> {
                    flushes++;
                    yield event(micros, "flush_finished");
                }
                case 2 -> "x".repeat(100_000) + "\n";
                default ->
                        "2025/11/23-03:00:00.000000 7f10 [/db_impl.cc:1] nothing of interest "
                                + lines
                                + "\n";
            };
        }

        private static String event(long micros, String kind) {
            return "2025/11/23-03:00:00.000000 7f10 EVENT_LOG_v1 {\"time_micros\": %d, \"job\": 2, \"event\": \"%s\"}\n"
                    .formatted(micros, kind);
        }
    }

    @Test
    void aLogThatIsLargerThanTheMemoryIsRead() throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx" + MEMORY_MIB + "m",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Reading.class.getName())
                        .inheritIO()
                        .start();
        assertThat(process.waitFor(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
    }
}
