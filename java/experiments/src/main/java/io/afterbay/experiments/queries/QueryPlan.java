package io.afterbay.experiments.queries;

import io.afterbay.bench.Cell;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.measure.NexmarkTarget;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.Target;
import io.afterbay.command.ByteSize;
import io.afterbay.experiments.TrialPlan;
import io.afterbay.workloads.nexmark.Generator;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import io.afterbay.workloads.nexmark.Query;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One run of a NEXMark query: as fast as possible, or at a rate.
 *
 * @param size of the job and its state
 * @param ratePercent see {@link QueryTrial.Setting}
 * @param ratePerS events per second of the open loop; 0 as long as nobody knows it
 * @param warmUpMs how long the job runs before anything is counted
 * @param openMs length of the open loop at least, from the end of its ramp-up
 * @param value of a parameter of the store; null if all are as users get them
 */
record QueryPlan(
        String backend,
        int pair,
        JobSize size,
        int ratePercent,
        double ratePerS,
        long warmUpMs,
        long openMs,
        @Nullable SweptValue value)
        implements TrialPlan {
    private static final long SEED = 1;
    private static final long INTER_EVENT_MICROS = 100;

    /** Ends of windows in the counted part of an open loop, and a little more. */
    private static final double WINDOWS = 2.2;

    /**
     * What runs.
     *
     * @param query its name
     * @param events in a closed loop
     * @param memory of the process; state has {@code stateMemory} of it, or by default if null
     */
    record JobSize(
            String query,
            Cell cell,
            long events,
            long windowMs,
            long sessionGapMs,
            long activeKeys,
            String memory,
            @Nullable String stateMemory) {

        Query kind() {
            return Query.named(query).orElseThrow();
        }
    }

    /** The same at a rate that is known now. */
    QueryPlan at(double eventsPerS) {
        return new QueryPlan(backend, pair, size, ratePercent, eventsPerS, warmUpMs, openMs, value);
    }

    NexmarkTarget target() {
        return new NexmarkTarget(
                new NexmarkOptions(
                        size.kind(),
                        size.events,
                        new Generator(SEED, INTER_EVENT_MICROS, size.activeKeys),
                        new NexmarkOptions.Windows(size.windowMs, size.sessionGapMs),
                        0,
                        null,
                        "bench"));
    }

    /** The open loop, as long as some windows need to end in it. */
    Phase openLoop(Target target) {
        long windowsMs =
                switch (size.kind()) {
                    case Q5, Q5_APPEND, Q7, Q8 ->
                            (long) (WINDOWS * eventsOfWindow() / ratePerS * 1000);
                    default -> 0;
                };
        return Phase.openLoop(target, ratePerS, Math.max(openMs, windowsMs));
    }

    private double eventsOfWindow() {
        return size.windowMs * 1000.0 / INTER_EVENT_MICROS;
    }

    @Override
    public EngineOptions engine(EngineOptions given) {
        return given.orMemory(
                ByteSize.parse(size.memory),
                size.stateMemory == null ? null : ByteSize.parse(size.stateMemory));
    }

    /** Options of the backend. */
    Map<String, String> settings() {
        return value == null ? Map.of() : value.settings();
    }

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, %s, %s, %s%s, pair %d",
                size.query,
                size.cell.jsonName(),
                backend,
                ratePercent == 0 ? "full speed" : ratePercent + " %",
                value == null ? "" : ", " + value.parameter().label() + " " + value.text(),
                pair);
    }

    /** The run without figures. */
    QueryTrial trial() {
        return QueryTrial.none(
                new QueryTrial.Setting(
                        Backend.named(backend).label(),
                        size.query,
                        size.cell,
                        ratePercent,
                        value == null ? null : value.parameter().label(),
                        value == null ? null : value.text(),
                        value != null && value.isDefault(),
                        pair));
    }
}
