package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.Intervals;
import java.util.Arrays;
import java.util.List;

/**
 * Time in pieces of one flush per column family each. Where flushes come in bursts, a slot is from
 * one burst to the next; where they do not, slots are as long as the pace of the flushes, and begin
 * where the fewest compactions do.
 */
final class Slots {
    private static final int PHASES = 16;
    private static final int MAX_PARTS = 8;
    private static final int MAX_SLOTS = 1 << 17;

    private final long[] bounds;

    private Slots(long[] bounds) {
        this.bounds = bounds;
    }

    /** None if nothing repeats. */
    static Slots of(Bursts bursts, List<ColumnFamilyLog> families) {
        if (bursts.exist()) {
            long[] starts = bursts.starts();
            long[] bounds = Arrays.copyOf(starts, starts.length + 1);
            bounds[starts.length] = starts[starts.length - 1] + bursts.periodMicros();
            return new Slots(bounds);
        }
        return bursts.paceMicros() == 0
                ? new Slots(new long[0])
                : regular(bursts.paceMicros(), families);
    }

    private static Slots regular(long width, List<ColumnFamilyLog> families) {
        Intervals compactions = new Intervals();
        Intervals flushes = new Intervals();
        families.forEach(family -> compactions.addAll(family.compactions()));
        families.forEach(family -> flushes.addAll(family.flushes()));
        long[] starts = flushes.sortedStarts();
        long origin = starts[0] - width + emptiestPhase(compactions, starts[0], width);
        long count = Math.min(MAX_SLOTS, (starts[starts.length - 1] - origin) / width + 2);
        long[] bounds = new long[(int) count];
        Arrays.setAll(bounds, i -> origin + i * width);
        return new Slots(bounds);
    }

    private static long emptiestPhase(Intervals compactions, long origin, long width) {
        int[] begins = new int[PHASES];
        for (int i = 0; i < compactions.size(); i++) {
            long phase = Math.floorMod(compactions.start(i) - origin, width);
            begins[(int) (phase * PHASES / width)]++;
        }
        int emptiest = 0;
        for (int i = 1; i < PHASES; i++) {
            emptiest = begins[i] < begins[emptiest] ? i : emptiest;
        }
        return emptiest * width / PHASES;
    }

    int size() {
        return Math.max(0, bounds.length - 1);
    }

    long start(int slot) {
        return bounds[slot];
    }

    long end(int slot) {
        return bounds[slot + 1];
    }

    /** The slot of a time; -1 before the first, {@link #size} after the last. */
    int of(long time) {
        return Math.min(size(), Sorted.floor(bounds, time));
    }

    /** Each slot in two, unless they are small pieces already. */
    Slots halved() {
        long[] result = new long[2 * bounds.length - 1];
        for (int i = 0; i < bounds.length; i++) {
            result[2 * i] = bounds[i];
        }
        for (int i = 1; i < result.length; i += 2) {
            result[i] = (result[i - 1] + result[i + 1]) / 2;
        }
        return new Slots(result);
    }

    /** In pieces so small that no more than half of them have a compaction of most families. */
    Slots fineFor(List<ColumnFamilyLog> families) {
        Slots result = this;
        for (int parts = 1; parts < MAX_PARTS && result.isCoarse(families); parts *= 2) {
            result = result.halved();
        }
        return result;
    }

    private boolean isCoarse(List<ColumnFamilyLog> families) {
        long[] used =
                families.stream()
                        .mapToLong(family -> slotsWithStart(family.compactions()).length)
                        .sorted()
                        .toArray();
        return size() > 0 && 2 * Sorted.percentile(used, 0.5) > size();
    }

    /** The slots in which any of them begins, each once, in order. */
    int[] slotsWithStart(Intervals intervals) {
        return Arrays.stream(intervals.sortedStarts())
                .mapToInt(this::of)
                .filter(slot -> slot >= 0 && slot < size())
                .distinct()
                .toArray();
    }
}
