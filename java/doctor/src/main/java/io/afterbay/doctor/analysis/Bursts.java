package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.InstanceName;
import io.afterbay.doctor.reading.Intervals;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Moments at which many instances flush together: checkpoints of Flink, commits of Kafka Streams.
 *
 * <p>The median time between two flushes of a column family is the pace. Flushes with gaps of less
 * than a quarter of it between them form a group; a group is a burst if it begins within half of
 * the pace, and at least half of all instances, and two, flush in it. Flushes that come by
 * themselves leave no such gaps, and no bursts are found. Flushes of full memtables are left out if
 * there are enough that were asked for.
 *
 * <p>The period is the median distance of bursts.
 */
final class Bursts {
    private static final int MIN_FLUSHES = 3;
    private static final int MIN_BURSTS = 3;

    private final long paceMicros;
    private final int instances;
    private final List<long[]> bursts = new ArrayList<>();
    private int flushes;
    private int flushesInBursts;

    /** The group that may become a burst. */
    private final Set<InstanceName> flushing = new HashSet<>();

    private int flushesInGroup;
    private long groupStart;
    private long groupLastStart;
    private long groupEnd;

    private Bursts(long paceMicros, int instances) {
        this.paceMicros = paceMicros;
        this.instances = instances;
    }

    static Bursts find(List<ColumnFamilyLog> families) {
        Function<ColumnFamilyLog, Intervals> kind =
                pace(families, ColumnFamilyLog::checkpointFlushes) > 0
                        ? ColumnFamilyLog::checkpointFlushes
                        : ColumnFamilyLog::flushes;
        long instances =
                families.stream()
                        .filter(family -> !kind.apply(family).isEmpty())
                        .map(ColumnFamilyLog::instance)
                        .distinct()
                        .count();
        Bursts result = new Bursts(pace(families, kind), (int) instances);
        if (result.paceMicros > 0 && instances > 1) {
            FlushOrder.visit(families, kind, result::add);
            result.endGroup();
        }
        return result;
    }

    /** 0 if fewer than half of the column families flushed often enough. */
    private static long pace(
            List<ColumnFamilyLog> families, Function<ColumnFamilyLog, Intervals> kind) {
        List<Long> gaps = new ArrayList<>();
        for (ColumnFamilyLog family : families) {
            long[] starts = kind.apply(family).sortedStarts();
            if (starts.length >= MIN_FLUSHES) {
                gaps.add(Sorted.percentile(gaps(starts), 0.5));
            }
        }
        long[] sorted = gaps.stream().mapToLong(Long::longValue).sorted().toArray();
        return 2 * sorted.length < families.size() ? 0 : Sorted.percentile(sorted, 0.5);
    }

    private static long[] gaps(long[] starts) {
        long[] gaps = new long[starts.length - 1];
        for (int i = 0; i < gaps.length; i++) {
            gaps[i] = starts[i + 1] - starts[i];
        }
        Arrays.sort(gaps);
        return gaps;
    }

    /** In the order of their begin. */
    private void add(long start, long end, InstanceName instance) {
        flushes++;
        if (flushesInGroup > 0 && start - groupLastStart > paceMicros / 4) {
            endGroup();
        }
        if (flushesInGroup++ == 0) {
            groupStart = start;
            groupEnd = end;
        }
        groupLastStart = start;
        groupEnd = Math.max(groupEnd, end);
        flushing.add(instance);
    }

    private void endGroup() {
        if (groupLastStart - groupStart <= paceMicros / 2
                && flushing.size() > 1
                && 2 * flushing.size() >= instances) {
            bursts.add(new long[] {groupStart, groupEnd});
            flushesInBursts += flushesInGroup;
        }
        flushesInGroup = 0;
        flushing.clear();
    }

    /** Whether flushes come in bursts at all: at least three, with most of the flushes in them. */
    boolean exist() {
        return bursts.size() >= MIN_BURSTS && 2 * flushesInBursts >= flushes;
    }

    int size() {
        return bursts.size();
    }

    long start(int burst) {
        return bursts.get(burst)[0];
    }

    /** When the last flush of the burst ended. */
    long end(int burst) {
        return bursts.get(burst)[1];
    }

    long[] starts() {
        return bursts.stream().mapToLong(burst -> burst[0]).toArray();
    }

    /** The median time between two flushes of a column family; 0 if there are too few. */
    long paceMicros() {
        return paceMicros;
    }

    /** The median distance; call it only if there are bursts. */
    long periodMicros() {
        return Sorted.percentile(gaps(starts()), 0.5);
    }

    /** How long bursts last, as their 90th percentile: most of them, but not a single bad one. */
    long lengthMicros() {
        long[] lengths = bursts.stream().mapToLong(burst -> burst[1] - burst[0]).sorted().toArray();
        return Sorted.percentile(lengths, 0.9);
    }
}
