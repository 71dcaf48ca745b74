package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Excerpts of several versions, and what may have become of a log. */
class LogReadingTest {
    private static final InstanceName NAME =
            new InstanceName(Engine.ROCKSDB, "stage", "instance", "key");
    private static final long SECOND = 1_000_000;
    private static final long START = 1_763_866_801 * SECOND;

    @TempDir Path directory;

    private static byte[] excerpt(String name) throws IOException {
        try (InputStream in = LogReadingTest.class.getResourceAsStream(name)) {
            return in.readAllBytes();
        }
    }

    private static LogReading.Logs read(byte[] bytes) throws IOException {
        return LogReading.read(NAME, new ByteArrayInputStream(bytes));
    }

    private static LogReading.Logs read(String lines) throws IOException {
        return read(lines.getBytes(UTF_8));
    }

    @Test
    void readsVersion6() throws IOException {
        LogReading.Logs logs = read(excerpt("rocksdb-6.LOG"));
        InstanceLog log = logs.instances().get(0);
        assertThat(log.version()).isEqualTo("6.20.3");
        assertThat(log.options())
                .containsEntry("max_background_jobs", "2")
                .containsEntry("wal_dir", "/data/db")
                .containsEntry("write_buffer_size", "67108864")
                .containsEntry("level0_slowdown_writes_trigger", "20")
                .containsEntry("level0_file_num_compaction_trigger", "4");
        ColumnFamilyLog window = log.columnFamily("window-contents");
        assertThat(window.trigger()).hasValue(6);
        assertOne(window.flushes(), START, START + 30_000);
        assertThat(window.checkpointFlushes().size()).isEqualTo(1);
        assertOne(window.compactions(), START + 40_000, START + 140_000);
        assertThat(window.filesPerCompaction()).hasValue(4);
        assertThat(log.stalls().size()).isEqualTo(1);
        assertThat(log.stalls().start(0)).as("UTC").isEqualTo(START - SECOND / 2);
        assertThat(logs.tally().damagedLines()).isZero();
        assertThat(logs.tally().foreignLines()).isZero();
        assertThat(logs.tally().events()).isEqualTo(4);
    }

    @Test
    void readsVersion11() throws IOException {
        LogReading.Logs logs = read(excerpt("rocksdb-11.LOG"));
        InstanceLog log = logs.instances().get(0);
        assertThat(log.version()).isEqualTo("11.8.1");
        ColumnFamilyLog family = log.columnFamily("default");
        assertThat(family.trigger()).hasValue(5);
        assertOne(family.flushes(), START, START + 30_000);
        assertThat(family.checkpointFlushes().isEmpty()).as("a full memtable").isTrue();
        assertOne(family.compactions(), START + 40_000, START + 140_000);
        assertThat(family.filesPerCompaction()).hasValue(5);
        assertThat(log.stalls().size()).isEqualTo(1);
        assertThat(logs.tally().damagedLines()).isZero();
    }

    private static void assertOne(Intervals intervals, long start, long end) {
        assertThat(intervals.size()).isEqualTo(1);
        assertThat(intervals.start(0)).isEqualTo(start);
        assertThat(intervals.end(0)).isEqualTo(end);
    }

    /** Local time five and a half hours ahead, as in India: only stalls go by it. */
    @Test
    void stallsAreMovedFromLocalTime() throws IOException {
        String log = new String(excerpt("rocksdb-11.LOG"), UTF_8).replace("-03:00", "-08:30");
        assertThat(read(log).instances().get(0).stalls().start(0)).isEqualTo(START + SECOND);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 100, 1000})
    void anyCutIsCountedAndNotFatal(int step) throws IOException {
        byte[] bytes = excerpt("rocksdb-6.LOG");
        for (int length = 0; length < bytes.length; length += step) {
            LogReading.Logs logs = read(Arrays.copyOf(bytes, length));
            assertThat(logs.tally().damagedLines()).isLessThanOrEqualTo(1);
            assertThat(logs.instances().get(0).flushes().size()).isLessThanOrEqualTo(1);
        }
    }

    @Test
    void halfAnEventIsSkipped() throws IOException {
        String log = new String(excerpt("rocksdb-11.LOG"), UTF_8);
        int end = log.indexOf("compaction_finished") + 100;
        Tally tally = read(log.substring(0, end)).tally();
        assertThat(tally.damagedLines()).isEqualTo(1);
        assertThat(tally.startsWithoutEnd()).isEqualTo(1);
    }

    @Test
    void randomBytesAreNotFatal() throws IOException {
        byte[] bytes = excerpt("rocksdb-6.LOG");
        Random random = new Random(3);
        for (int round = 0; round < 2000; round++) {
            byte[] damaged = bytes.clone();
            for (int i = 0; i < 1 + round % 20; i++) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            LogReading.Logs logs = read(damaged);
            assertThat(logs.tally().lines()).isPositive();
        }
    }

    @Test
    void linesThatAreTooLongAreCut() throws IOException {
        String line = "2025/11/23-03:00:00.000100 7f10 " + "x".repeat(1_000_000) + "\n";
        LogReading.Logs logs = read(line + new String(excerpt("rocksdb-11.LOG"), UTF_8));
        assertThat(logs.tally().cutLines()).isEqualTo(1);
        assertThat(logs.instances().get(0).compactions().size()).isEqualTo(1);
    }

    @Test
    void foreignLinesAreCountedAndEventsWithinThemFound() throws IOException {
        String log =
                new String(excerpt("rocksdb-11.LOG"), UTF_8)
                        .replace("2025/11/23-03:00:01.0", "[pod-3] stdout 01.0");
        LogReading.Logs logs = read("** Compaction Stats [default] **\nLevel Files\n" + log);
        assertThat(logs.tally().foreignLines()).isEqualTo(2);
        assertThat(logs.instances().get(0).flushes().size()).isEqualTo(1);
    }

    @Test
    void endsWithoutStartsAreCounted() throws IOException {
        String log =
                new String(excerpt("rocksdb-11.LOG"), UTF_8)
                        .lines()
                        .filter(line -> !line.contains("_started"))
                        .reduce("", (a, b) -> a + b + "\n");
        LogReading.Logs logs = read(log);
        assertThat(logs.tally().endsWithoutStart()).isEqualTo(1);
        assertOne(logs.instances().get(0).compactions(), START + 140_000 - 98_000, START + 140_000);
    }

    /** A job that began before the log was rotated ends in the next file. */
    @Test
    void rotatedFilesAreOneLog() throws IOException {
        String log = new String(excerpt("rocksdb-11.LOG"), UTF_8);
        int middle = log.indexOf("2025/11/23-03:00:01.020000");
        Path folder = Files.createDirectories(directory.resolve("app/db"));
        Files.writeString(folder.resolve("LOG.old.1763866801010000"), log.substring(0, middle));
        Files.writeString(folder.resolve("LOG"), log.substring(middle));
        Files.writeString(folder.resolve("000012.log"), log);
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.tally().files()).isEqualTo(2);
        assertThat(logs.instances()).hasSize(1);
        InstanceLog instance = logs.instances().get(0);
        assertThat(instance.name().stage()).isEqualTo("app");
        assertThat(instance.name().instance()).isEqualTo("db");
        assertThat(instance.flushes().size()).isEqualTo(1);
        assertThat(instance.version()).isEqualTo("11.8.1");
    }

    /** Each segment is a database, whose jobs count from the beginning; one was killed at work. */
    @Test
    void segmentsOfAStoreOfKafkaStreamsAreOneLog() throws IOException {
        String log = new String(excerpt("rocksdb-11.LOG"), UTF_8);
        String beforeEnds = log.substring(0, log.indexOf("2025/11/23-03:00:01.020000"));
        String withoutStarts =
                log.lines()
                        .filter(line -> !line.contains("_started"))
                        .reduce("", (a, b) -> a + b + "\n");
        Path store = directory.resolve("app/0_1/windows");
        String[] segments = {beforeEnds, log, withoutStarts};
        for (int i = 0; i < segments.length; i++) {
            Path segment = Files.createDirectories(store.resolve("windows." + (60_000L * i)));
            Files.writeString(segment.resolve("LOG"), segments[i]);
        }
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.tally().files()).isEqualTo(3);
        assertThat(logs.tally().startsWithoutEnd()).isPositive();
        assertThat(logs.tally().endsWithoutStart()).isPositive();
        assertThat(logs.instances()).hasSize(1);
        InstanceLog instance = logs.instances().get(0);
        assertThat(instance.name().engine()).isEqualTo(Engine.KAFKA_STREAMS);
        assertThat(instance.name().stage()).isEqualTo("windows");
        assertThat(instance.flushes().size()).isEqualTo(1);
    }

    /** They wait for a zone that no event tells, so they count as UTC. */
    @Test
    void stallsWithoutAnyEventAreKept() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("app/db"));
        Files.writeString(
                folder.resolve("LOG"),
                "2025/11/23-03:00:00.500000 140 [default] Stalling writes because we have 4 tables\n");
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.instances()).hasSize(1);
        assertThat(logs.instances().get(0).stalls().size()).isEqualTo(1);
    }

    /** One that somebody has asked for takes what there is, not what makes one begin. */
    @Test
    void manualCompactionsTellNoTrigger() throws IOException {
        String log = new String(excerpt("rocksdb-11.LOG"), UTF_8);
        assertThat(filesOf(log)).isPresent();
        assertThat(filesOf(log.replace("LevelL0FilesNum", "ManualCompaction"))).isEmpty();
        assertThat(filesOf(log.replace("LevelL0FilesNum", "FilesMarkedForCompaction"))).isEmpty();
    }

    private static OptionalInt filesOf(String log) throws IOException {
        return read(log).instances().get(0).columnFamily("default").filesPerCompaction();
    }

    @Test
    void textInUtf16IsNamed() throws IOException {
        String log = new String(excerpt("rocksdb-11.LOG"), UTF_8);
        for (Charset charset : List.of(UTF_16, UTF_16LE, UTF_16BE)) {
            Path file = Files.write(directory.resolve("LOG"), log.getBytes(charset));
            Tally tally = LogReading.read(List.of(file), line -> {}).tally();
            assertThat(tally.unreadable()).hasSize(1);
            assertThat(tally.unreadable().get(0).reason())
                    .contains("UTF-16", "convert it with iconv -f UTF-16 -t UTF-8");
        }
    }

    @Test
    void linksThatLeadBackAreNamedAndReadOnce() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("app/db"));
        Files.write(folder.resolve("LOG"), excerpt("rocksdb-11.LOG"));
        Files.createSymbolicLink(folder.resolve("again"), directory);
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.tally().files()).isEqualTo(1);
        assertThat(logs.tally().unreadable())
                .containsExactly(
                        new Tally.Unreadable(
                                folder.resolve("again").toString(),
                                "it is a symbolic link to a folder above it; what is there was read"
                                        + " once"));
    }

    @Test
    void whatCannotBeReadIsNamed() throws IOException {
        Path log = Files.write(directory.resolve("LOG"), excerpt("rocksdb-11.LOG"));
        Path missing = directory.resolve("none/LOG");
        LogReading.Logs logs = LogReading.read(List.of(missing, log, log), line -> {});
        assertThat(logs.tally().unreadable())
                .containsExactly(
                        new Tally.Unreadable(
                                missing.toString(), "there is no such file; check the path"));
        assertThat(logs.tally().files()).as("named twice, read once").isEqualTo(1);
        assertThat(logs.instances()).hasSize(1);
    }

    @Test
    void whatMayNotBeReadIsNamed() throws IOException {
        Path log = Files.write(directory.resolve("LOG"), excerpt("rocksdb-11.LOG"));
        Files.setPosixFilePermissions(log, Set.of());
        assumeFalse(Files.isReadable(log), "root may read everything");
        Tally tally = LogReading.read(List.of(directory), line -> {}).tally();
        assertThat(tally.unreadable())
                .containsExactly(
                        new Tally.Unreadable(
                                log.toString(),
                                "it may not be read; run as its owner, or copy it"));
    }

    @Test
    void logsWithoutEventsAreNamed() throws IOException {
        Path log = Files.writeString(directory.resolve("LOG"), "Hello\n");
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.instances()).isEmpty();
        assertThat(logs.tally().withoutEvents()).containsExactly(log.toString());
    }

    private static byte[] packed(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    @Test
    void packedLogsAreRead() throws IOException {
        Files.write(directory.resolve("LOG.old.17.gz"), packed(excerpt("rocksdb-11.LOG")));
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.instances().get(0).compactions().size()).isEqualTo(1);
        assertThat(logs.tally().unreadable()).isEmpty();
    }

    @Test
    void packedLogsThatAreCutOffAreReadToTheDamage() throws IOException {
        byte[] log = new String(excerpt("rocksdb-11.LOG"), UTF_8).repeat(200).getBytes(UTF_8);
        byte[] whole = packed(log);
        Path file = directory.resolve("LOG.gz");
        Files.write(file, Arrays.copyOf(whole, whole.length / 2));
        LogReading.Logs logs = LogReading.read(List.of(directory), line -> {});
        assertThat(logs.tally().unreadable())
                .singleElement()
                .satisfies(one -> assertThat(one.path()).isEqualTo(file.toString()))
                .satisfies(one -> assertThat(one.reason()).contains("no whole gzip file", "zcat"));
        assertThat(logs.instances().get(0).compactions().size()).isBetween(1, 199);
    }

    @Test
    void progressComesByTheBytesOfAllFiles() throws IOException {
        byte[] line = "2025/11/23-03:00:00.000100 7f10 nothing\n".repeat(8192).getBytes(UTF_8);
        Files.write(Files.createDirectory(directory.resolve("a")).resolve("LOG"), line);
        Files.write(Files.createDirectory(directory.resolve("b")).resolve("LOG"), line);
        List<String> shown = new ArrayList<>();
        LogReading.read(List.of(directory), message -> shown.add(message.get()));
        assertThat(shown).hasSize(4);
        assertThat(shown.get(1)).contains("[############............]  50 %", "log 1 of 2");
        assertThat(shown.get(3)).contains("[########################] 100 %", "log 2 of 2");
    }
}
