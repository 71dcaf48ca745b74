package io.afterbay.doctor.live;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The counters of a running process for people. The first line says whether there is a problem. */
public final class LiveText {
    /** Two rounds of RocksDB's default trigger: before that, nothing is claimed. */
    private static final long BURSTS_MIN = 8;

    private static final String FLINK = "state.backend.rocksdb.desync.";
    private static final String KAFKA = "afterbay.desync.";
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final LiveCounters counters;

    private LiveText(LiveCounters counters) {
        this.counters = counters;
    }

    /** Prints a paragraph for each coordinator. */
    public static void print(PrintWriter out, List<LiveCounters> all) {
        for (LiveCounters counters : all) {
            new LiveText(counters).print(out);
        }
        out.flush();
    }

    private void print(PrintWriter out) {
        out.println(headline());
        out.println();
        line(out, "instances", "%,d open", count("instances"));
        line(
                out,
                "now",
                "%,d flushes, %,d compactions, %,d compactions waiting",
                count("flushes"),
                count("compactions"),
                count("compactionsQueued"));
        line(
                out,
                "so far",
                "%,d flushes, %,d compactions, %,d bursts",
                count("flushesBegan"),
                count("compactionsBegan"),
                count("bursts"));
        line(
                out,
                "at once",
                "up to %,d compactions and %,d flushes; %,d of them began beside the other kind",
                count("mostCompactions"),
                count("mostFlushes"),
                count("overlaps"));
        line(
                out,
                "gate",
                "%,d holds, %,d ms in all; ended by the guard %,d times, by the deadline %,d times",
                count("holds"),
                count("heldNanos") / NANOS_PER_MILLI,
                count("holdsEndedByGuard"),
                count("holdsEndedByDeadline"));
        advice().forEach(text -> out.println("\n  " + text));
        out.println();
    }

    private static void line(PrintWriter out, String name, String format, Object... values) {
        out.printf(Locale.ROOT, "  %-12s %s%n", name, String.format(Locale.ROOT, format, values));
    }

    private long count(String attribute) {
        return counters.count(attribute);
    }

    private String headline() {
        if (count("bursts") < BURSTS_MIN) {
            return "Too little to say: %,d bursts of flushes so far, %d are needed"
                    .formatted(count("bursts"), BURSTS_MIN);
        }
        return "%s: up to %,d compactions began after the same flushes, of %,d instances"
                .formatted(
                        isTogether() ? "Together" : "Apart",
                        count("mostCompactionsOfBurst"),
                        count("instances"));
    }

    /**
     * Whether as many as there are instances began between two bursts. With several column families
     * in each, that is fewer than all.
     */
    private boolean isTogether() {
        return count("bursts") >= BURSTS_MIN
                && count("instances") > 1
                && count("mostCompactionsOfBurst") >= count("instances");
    }

    private List<String> advice() {
        List<String> advice = new ArrayList<>();
        if (isTogether()) {
            advice.add(
                    "Set "
                            + FLINK
                            + "trigger-spread: true, or with Kafka Streams "
                            + KAFKA
                            + "trigger.spread=true, unless it is; if it is, the logs say more:"
                            + " ./afterbay doctor LOG...");
        }
        if (count("compactionsQueued") > count("instances")) {
            advice.add(
                    "More compactions wait than there are instances: if that stays so, raise"
                            + " state.backend.rocksdb.thread.num, "
                            + FLINK
                            + "compaction-threads, or with Kafka Streams "
                            + KAFKA
                            + "compaction.threads.");
        }
        if (2 * count("holdsEndedByGuard") > count("holds") && count("holds") > 0) {
            advice.add(
                    "Most holds end because files pile up in L0: shorten "
                            + FLINK
                            + "gate.deadline, or with Kafka Streams "
                            + KAFKA
                            + "gate.deadline.ms, or use more threads.");
        }
        if (counters.is("hasFailed")) {
            advice.add("The coordinator has ended by an error, which is in the process's log.");
        }
        return advice;
    }
}
