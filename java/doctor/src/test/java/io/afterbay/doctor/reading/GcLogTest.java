package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Logs of JVMs that this test starts, and lines of collectors that not every JVM has. */
class GcLogTest {
    private static final int COLLECTIONS = 3;
    private static final long END = 1_763_866_800_500_000L;

    @TempDir Path directory;

    /** The program whose log is read. */
    public static final class Collecting {
        private Collecting() {}

        /** Collects garbage so many times. */
        public static void main(String[] args) {
            for (int i = 0; i < COLLECTIONS; i++) {
                System.gc();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "time,uptime,level,tags",
                "utctime,tags",
                "uptime,timemillis,pid,tid,hostname",
                "uptime,level,tags",
                "uptimemillis",
            })
    void realLogsHaveTheTimeOfThePausesWhateverTheDecorations(String decorations) throws Exception {
        long before = Instant.now().toEpochMilli() * 1000;
        GcLog log = GcLog.read(List.of(collect("-XX:+UseSerialGC", decorations)));
        long after = Instant.now().toEpochMilli() * 1000;
        assertThat(log.pauses())
                .extracting(GcLog.Pause::kind)
                .containsExactly(
                        "Pause Full (System.gc())",
                        "Pause Full (System.gc())",
                        "Pause Full (System.gc())");
        assertThat(log.pauses())
                .allSatisfy(
                        pause -> {
                            assertThat(pause.lengthMicros()).isBetween(1L, after - before);
                            assertThat(pause.startMicros()).isGreaterThan(before - 1_000_000);
                            assertThat(pause.endMicros()).isLessThanOrEqualTo(after + 1000);
                        });
        assertThat(log.isApproximate())
                .isEqualTo(decorations.startsWith("uptime") && !decorations.contains("time,time"));
    }

    @ParameterizedTest
    @CsvSource({"-XX:+UseG1GC", "-XX:+UseParallelGC"})
    void realLogsOfOtherCollectorsHavePauses(String collector) throws Exception {
        GcLog log = GcLog.read(List.of(collect(collector, "time,uptime,level,tags")));
        assertThat(log.pauses())
                .filteredOn(pause -> pause.kind().equals("Pause Full (System.gc())"))
                .hasSize(COLLECTIONS);
    }

    private Path collect(String collector, String decorations) throws Exception {
        Path log = directory.resolve("gc.log");
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                collector,
                                "-Xmx32m",
                                "-Xlog:gc*:file=" + log + ":" + decorations,
                                "-cp",
                                System.getProperty("java.class.path"),
                                Collecting.class.getName())
                        .inheritIO()
                        .start();
        assertThat(process.waitFor(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return log;
    }

    private GcLog read(String text) throws IOException {
        return GcLog.read(List.of(Files.writeString(directory.resolve("gc.log"), text)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms|Pause Young (Normal) (G1 Evacuation Pause)|3456",
                "[info][gc          ] GC(12) Pause Remark 130M->130M(512M) 12.001ms|Pause Remark|12001",
                "[gc,phases] GC(0) Pause Mark Start 0.010ms|Pause Mark Start|10",
                "[gc,phases] GC(7) y: Pause Mark End 0.020ms|Pause Mark End|20",
                "[gc] GC(3) Pause Init Mark (unload classes) 0.123ms|Pause Init Mark (unload classes)|123",
            })
    void readsThePausesOfAllCollectors(String line, String kind, long micros) throws IOException {
        GcLog log = read("[2025-11-23T03:00:00.500+0000]" + line + "\n");
        assertThat(log.pauses()).containsExactly(new GcLog.Pause(END - micros, END, kind));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[gc,start] GC(0) Pause Young (Normal) (G1 Evacuation Pause)",
                "[gc,phases] GC(0)   Evacuate Collection Set: 1.2ms",
                "[gc] GC(1) Concurrent Mark Cycle 12.345ms",
                "[gc,cpu] GC(0) User=0.01s Sys=0.00s Real=0.00s",
                "[gc] GC(0) Pause Young (Normal) (G1 Evacuation Pa",
            })
    void otherLinesAreNoPauses(String line) throws IOException {
        GcLog log = read("[2025-11-23T03:00:00.500+0000]" + line + "\n");
        assertThat(log.pauses()).isEmpty();
        assertThat(log.foreignLines()).isZero();
    }

    @Test
    void timeBeforeUtcIsMoved() throws IOException {
        GcLog log = read("[2025-11-23T08:30:00.500+0530][1.5s] GC(0) Pause Full 9M->1M(9M) 1.0ms");
        assertThat(log.pauses().get(0).endMicros()).isEqualTo(END);
    }

    @Test
    void uptimeCountsBackFromTheLastChangeOfTheFile() throws IOException {
        Path file =
                Files.writeString(
                        directory.resolve("gc.log"),
                        "[1.000s] GC(0) Pause Full 9M->1M(9M) 100.0ms\n[3.000s] GC(0) last\n");
        Files.setLastModifiedTime(file, FileTime.fromMillis(END / 1000 + 2000));
        GcLog log = GcLog.read(List.of(file));
        assertThat(log.isApproximate()).isTrue();
        assertThat(log.pauses()).containsExactly(new GcLog.Pause(END - 100_000, END, "Pause Full"));
    }

    @Test
    void rotatedFilesAreOneLogInAnyOrder() throws IOException {
        Path first = directory.resolve("gc.log.0");
        Path second = directory.resolve("gc.log");
        Files.writeString(first, "[1763866800000ms] GC(0) Pause Full 9M->1M(9M) 1.0ms\n");
        Files.writeString(second, "[1763866801000ms] GC(1) Pause Full 9M->1M(9M) 1.0ms\nhalf a li");
        GcLog log = GcLog.read(List.of(second, first));
        assertThat(log.pauses()).extracting(GcLog.Pause::endMicros).isSorted().hasSize(2);
        assertThat(log.foreignLines()).isEqualTo(1);
    }

    @Test
    void packedLogsThatAreCutOffAreReadToTheDamage() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            for (int i = 0; i < 20_000; i++) {
                String line = "[%dms] GC(%d) Pause Full 9M->1M(9M) 1.0ms\n";
                gzip.write(line.formatted(1_763_866_800_000L + i * 977L, i).getBytes(US_ASCII));
            }
        }
        Path file = directory.resolve("gc.log.gz");
        Files.write(file, Arrays.copyOf(out.toByteArray(), out.size() / 2));
        GcLog log = GcLog.read(List.of(file));
        assertThat(log.pauses().size()).isBetween(1, 19_999);
        assertThat(log.foreignLines()).isEqualTo(1);
    }

    @Test
    void otherFilesAreRefusedWithTheFormThatIsRight() {
        assertThatThrownBy(() -> read("Hello\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("gc.log", "-Xlog:gc*");
    }
}
