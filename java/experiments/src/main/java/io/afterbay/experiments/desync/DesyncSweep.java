package io.afterbay.experiments.desync;

import io.afterbay.experiments.Labelled;
import java.util.List;
import java.util.function.IntFunction;

/** A number that is tried at several values (ShadowSync, figures 12 to 15). */
enum DesyncSweep implements Labelled {
    /** T in milliseconds: how long after a burst of flushes the gate holds compactions back. */
    DELAY("delay", 50, 50_000, List.of(100, 300, 1000, 3000, 8000), DesyncSweep::delay),

    FLUSH_THREADS(
            "flush-threads",
            1,
            256,
            List.of(1, 2, 4, 8, 16),
            threads -> DesyncSwitches.of("flush-threads", Integer.toString(threads))),

    /** The knee is sought within each run, too. */
    COMPACTION_THREADS(
            "compaction-threads",
            1,
            256,
            List.of(1, 2, 4, 8, 16),
            threads -> DesyncSwitches.of("compaction-threads", Integer.toString(threads)));

    /** A hold that the deadline cuts short would have another T. */
    private static final int BURST_MS_MAX = 10_000;

    private final String label;
    private final int min;
    private final int max;
    private final List<Integer> usual;
    private final IntFunction<DesyncSwitches> switches;

    DesyncSweep(
            String label,
            int min,
            int max,
            List<Integer> usual,
            IntFunction<DesyncSwitches> switches) {
        this.label = label;
        this.min = min;
        this.max = max;
        this.usual = usual;
        this.switches = switches;
    }

    private static DesyncSwitches delay(int millis) {
        return DesyncSwitches.of(
                "gate", "true",
                "gate.delay", DesyncSwitches.millis(millis),
                "gate.deadline", DesyncSwitches.millis(millis + BURST_MS_MAX));
    }

    @Override
    public String label() {
        return label;
    }

    /** Values of the paper, as far as they make sense on fewer processors. */
    List<Integer> usual() {
        return usual;
    }

    DesyncSwitches switches(int value) {
        return switches.apply(value);
    }

    /** What is wrong with a value, or empty. */
    String problem(int value) {
        return value >= min && value <= max
                ? ""
                : "%d for %s: use %d to %d".formatted(value, label, min, max);
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static DesyncSweep named(String label) {
        return Labelled.named(DesyncSweep.class, label);
    }

    public static final class Converter extends Labelled.Converter<DesyncSweep> {
        public Converter() {
            super(DesyncSweep.class);
        }
    }
}
