package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.InstanceLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What helps if column families of one database work together: RocksDB's own options. Afterbay's
 * cures keep databases apart: it sets triggers for each of them, and its gate and threads are those
 * of the process.
 */
final class WithinDatabase {
    private static final String PLACE = "the options of the database";
    private static final String FULL_LOG = "WAL Full";
    private static final String FULL_MEMORY = "Write Buffer Manager";

    /** Up to RocksDB 6.19, which had no word of its own for a full log. */
    private static final Pattern WITHOUT_FULL_LOG = Pattern.compile("[0-5]\\..*|6\\.1?\\d\\..*");

    private WithinDatabase() {}

    /**
     * In the order in which to try it.
     *
     * @param isTogether whether column families compact together
     */
    static List<Advice> advice(Diagnosis diagnosis, boolean isTogether) {
        if (!isTogether) {
            return List.of();
        }
        List<Advice> advice = new ArrayList<>();
        flushes(diagnosis, advice);
        advice.add(compactions(diagnosis));
        return List.copyOf(advice);
    }

    /** Why they flush together decides what keeps them from it. */
    private static void flushes(Diagnosis diagnosis, List<Advice> advice) {
        Map<String, Integer> reasons = new TreeMap<>();
        for (InstanceLog instance : diagnosis.instances()) {
            for (ColumnFamilyLog family : instance.columnFamilies()) {
                family.flushReasons()
                        .forEach(
                                (reason, count) ->
                                        reasons.merge(
                                                meaning(reason, instance.version()),
                                                count,
                                                Integer::sum));
            }
        }
        int all = reasons.values().stream().mapToInt(count -> count).sum();
        if (isMost(reasons, all, Set.of(FULL_LOG))) {
            advice.add(
                    new Advice(
                            "larger_log",
                            "most flushes begin because the log of writes is full, and then all"
                                    + " column families flush that have data in its oldest file; let"
                                    + " it be larger than all their memtables",
                            PLACE,
                            List.of(
                                    "max_total_wal_size = BYTES;  // it is "
                                            + option(diagnosis, "max_total_wal_size")
                                            + "; 0 is four times all memtables")));
        } else if (isMost(reasons, all, Set.of(FULL_MEMORY))) {
            advice.add(
                    new Advice(
                            "larger_memory",
                            "most flushes begin because the memory is full that all memtables share;"
                                    + " let it be larger, or the memtables smaller",
                            PLACE,
                            List.of(
                                    "db_write_buffer_size = BYTES;  // it is "
                                            + option(diagnosis, "db_write_buffer_size")
                                            + "; or the size of the write_buffer_manager")));
        } else if (isMost(reasons, all, ColumnFamilyLog.ASKED_FOR)) {
            advice.add(
                    new Advice(
                            "flush_apart",
                            "the program asks for most flushes, of all column families together; if"
                                    + " they need not be at one moment, ask for one after the other",
                            "the program, where it flushes or makes checkpoints",
                            List.of("db->Flush(options, family);  // at a time of its own")));
        }
    }

    private static String meaning(String reason, @Nullable String version) {
        boolean hasNoFullLog = version != null && WITHOUT_FULL_LOG.matcher(version).matches();
        return hasNoFullLog && reason.equals(FULL_MEMORY) ? FULL_LOG : reason;
    }

    private static boolean isMost(Map<String, Integer> reasons, int all, Set<String> these) {
        int count = these.stream().mapToInt(reason -> reasons.getOrDefault(reason, 0)).sum();
        return 2 * count > all;
    }

    private static Advice compactions(Diagnosis diagnosis) {
        List<String> lines = new ArrayList<>();
        int atOnce = diagnosis.overlap().mostCompactions();
        if (atOnce > 1) {
            lines.add(
                    "max_background_jobs = NUMBER;  // it is %s, and up to %d compactions ran at once"
                            .formatted(option(diagnosis, "max_background_jobs"), atOnce));
        }
        lines.add("rate_limiter.reset(NewGenericRateLimiter(BYTES_PER_SECOND, 100000, 10,");
        lines.add("    RateLimiter::Mode::kWritesOnly, true));  // at most; tunes itself below");
        return new Advice(
                "bound_compactions",
                "column families share the threads of their database, and when one of them stalls,"
                        + " writes to all of them wait; compactions that write at an even pace"
                        + (atOnce > 1 ? ", and fewer at once," : "")
                        + " leave more to others",
                PLACE,
                lines);
    }

    private static String option(Diagnosis diagnosis, String name) {
        return diagnosis.instances().stream()
                .map(instance -> instance.options().getOrDefault(name, ""))
                .filter(value -> !value.isEmpty())
                .findFirst()
                .orElse("not in the log");
    }
}
