package io.afterbay.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntUnaryOperator;

/** Logs in the form that RocksDB 8 writes, made by rule: a checkpoint every eight seconds. */
public final class TextLogs {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final String OPERATOR = "fedcba9876543210fedcba9876543210";

    private TextLogs() {}

    /** One log per subtask, in the form of Flink's log directory. */
    public static void flink(Path directory, int subtasks, int rounds, IntUnaryOperator trigger)
            throws IOException {
        for (int i = 0; i < subtasks; i++) {
            Files.writeString(
                    directory.resolve(name(JOB, i, subtasks)),
                    log(i, rounds, trigger.applyAsInt(i), Synthetic.PERIOD));
        }
    }

    /** Those of another job, with checkpoints of its own. */
    public static void flink(
            Path directory, String job, int subtasks, int rounds, long periodMicros)
            throws IOException {
        for (int i = 0; i < subtasks; i++) {
            Files.writeString(
                    directory.resolve(name(job, i, subtasks)), log(i, rounds, 4, periodMicros));
        }
    }

    private static String name(String job, int subtask, int subtasks) {
        return "tmp_job_%s_op_WindowOperator_%s__%d_%d__uuid_00000000-0000-0000-0000-%012d_db_LOG"
                .formatted(job, OPERATOR, subtask + 1, subtasks, subtask);
    }

    /** A folder per instance, of any program. */
    public static void folders(Path directory, int instances, int rounds) throws IOException {
        for (int i = 0; i < instances; i++) {
            Path folder = Files.createDirectories(directory.resolve("shard-" + i));
            Files.writeString(folder.resolve("LOG"), log(i, rounds, 4, Synthetic.PERIOD));
        }
    }

    /** A folder per database, with column families that flush together. */
    public static void columnFamilies(
            Path directory, int databases, int families, int rounds, String flushReason)
            throws IOException {
        columnFamilies(directory, databases, families, rounds, flushReason, "8.10.0");
    }

    /** Those of another version of RocksDB. */
    public static void columnFamilies(
            Path directory,
            int databases,
            int families,
            int rounds,
            String flushReason,
            String version)
            throws IOException {
        for (int database = 0; database < databases; database++) {
            StringBuilder text = new StringBuilder();
            line(text, Synthetic.START, "RocksDB version: " + version);
            line(text, Synthetic.START, "     Options.max_background_jobs: 8");
            for (int family = 0; family < families; family++) {
                line(text, Synthetic.START, "Options for column family [cf-" + family + "]:");
                line(text, Synthetic.START, "  Options.level0_file_num_compaction_trigger: 4");
            }
            for (int job = 0; job < rounds * families; job++) {
                columnFamily(text, job, families, flushReason);
            }
            Path folder = Files.createDirectories(directory.resolve("data/db-" + database));
            Files.writeString(folder.resolve("LOG"), text);
        }
    }

    private static void columnFamily(StringBuilder text, int job, int families, String reason) {
        int round = job / families;
        String name = "\"cf_name\": \"cf-" + job % families + "\"";
        long flush = Synthetic.START + round * Synthetic.PERIOD + job % families * Synthetic.MS;
        event(text, flush, 2 * job, "flush_started", "\"flush_reason\": \"" + reason + "\"");
        event(text, flush + 30 * Synthetic.MS, 2 * job, "table_file_creation", name);
        event(text, flush + 40 * Synthetic.MS, 2 * job, "flush_finished", "\"x\": [1, 0]");
        if (round % 4 == 3) {
            compaction(text, flush + 50 * Synthetic.MS, 2 * job + 1, name);
        }
    }

    /** A store per task, in the form of the state directory of Kafka Streams. */
    public static void kafkaStreams(Path directory, int tasks, int rounds) throws IOException {
        for (int i = 0; i < tasks; i++) {
            Path store = directory.resolve("word-count/0_" + i + "/rocksdb/counts");
            Files.createDirectories(store);
            Files.writeString(store.resolve("LOG"), log(i, rounds, 4, Synthetic.PERIOD));
        }
    }

    /** A window store per task, with a segment for each part of the rounds. */
    public static void kafkaStreamsWindows(Path directory, int tasks, int rounds, int segments)
            throws IOException {
        for (int i = 0; i < tasks; i++) {
            String[] lines = log(i, rounds, 4, Synthetic.PERIOD).split("\n");
            int each = (lines.length + segments - 1) / segments;
            for (int segment = 0; segment < segments; segment++) {
                Path store =
                        directory.resolve(
                                "word-count/0_%d/windows/windows.%d"
                                        .formatted(i, segment * 60_000));
                Files.createDirectories(store);
                int from = Math.min(lines.length, segment * each);
                int to = Math.min(lines.length, from + each);
                Files.write(store.resolve("LOG"), Arrays.asList(lines).subList(from, to));
            }
        }
    }

    /** Windows of 50 ms: 10 ms, and 900 ms for the time in which {@link #log} compacts. */
    public static Path latency(Path file, int rounds) throws IOException {
        StringBuilder text = new StringBuilder("time_s,latency_ms\n");
        long windows = rounds * Synthetic.PERIOD / (50 * Synthetic.MS);
        for (long window = 0; window < windows; window++) {
            long inCycle = window % 640;
            boolean isSlow = inCycle >= 480 && inCycle < 500;
            text.append(
                    String.format(
                            Locale.ROOT,
                            "%.3f,%d%n",
                            Synthetic.START / 1e6 + window * 0.05,
                            isSlow ? 900 : 10));
        }
        return Files.writeString(file, text);
    }

    private static String log(int instance, int rounds, int trigger, long periodMicros) {
        StringBuilder text = new StringBuilder();
        line(text, Synthetic.START, "RocksDB version: 8.10.0");
        line(
                text,
                Synthetic.START,
                "[db/column_family.cc:616] --------------- Options for column family [default]:");
        line(text, Synthetic.START, "     Options.level0_file_num_compaction_trigger: " + trigger);
        for (int round = 1; round <= rounds; round++) {
            long flush = Synthetic.START + (round - 1) * periodMicros + instance * Synthetic.MS;
            event(text, flush, 2 * round, "flush_started", "\"flush_reason\": \"Get Live Files\"");
            event(text, flush + 40 * Synthetic.MS, 2 * round, "flush_finished", "\"x\": [1, 0]");
            if (round % trigger == 0) {
                compaction(
                        text, flush + 50 * Synthetic.MS, 2 * round + 1, "\"cf_name\": \"default\"");
            }
        }
        return text.toString();
    }

    private static void compaction(StringBuilder text, long start, int job, String family) {
        event(text, start, job, "compaction_started", family + ", \"files_L0\": [1, 2, 3, 4]");
        long end = start + 850 * Synthetic.MS;
        event(text, end, job, "compaction_finished", "\"compaction_time_micros\": 850000");
    }

    private static void event(StringBuilder text, long micros, int job, String event, String more) {
        line(
                text,
                micros,
                "EVENT_LOG_v1 {\"time_micros\": %d, \"job\": %d, \"event\": \"%s\", %s}"
                        .formatted(micros, job, event, more));
    }

    private static void line(StringBuilder text, long micros, String message) {
        LocalDateTime time =
                LocalDateTime.ofEpochSecond(micros / Synthetic.SECOND, 0, ZoneOffset.UTC);
        text.append(
                String.format(
                        Locale.ROOT,
                        "%tY/%<tm/%<td-%<tH:%<tM:%<tS.%06d 140 %s%n",
                        time,
                        micros % Synthetic.SECOND,
                        message));
    }
}
