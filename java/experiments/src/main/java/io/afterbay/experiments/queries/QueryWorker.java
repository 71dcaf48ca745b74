package io.afterbay.experiments.queries;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.measure.ClosedLoopMeter;
import io.afterbay.cli.measure.LoopFigures;
import io.afterbay.cli.measure.OpenLoopMeter;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.PhaseRun;
import io.afterbay.cli.measure.ResourceSampler;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.measure.ThreadTimes;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.profile.StoreProfile;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialWorker;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The process of an experiment with a NEXMark query: warm-up, then one counted loop. */
final class QueryWorker extends TrialWorker<QueryPlan, QueryTrial> {
    private static final double BYTES_PER_MB = 1e6;

    private final Target target;

    private QueryWorker(Start<QueryPlan> start) {
        super(start);
        this.target = plan.target();
    }

    public static void main(String[] args) throws Exception {
        main(QueryPlan.class, QueryWorker::new);
    }

    @Override
    protected QueryTrial trial() throws Exception {
        boolean isOpen = plan.ratePercent() > 0;
        try (EmbeddedEngine flink =
                        new EmbeddedEngine(engine.withDefaults(plan.settings()), directory, false);
                ResourceSampler sampler = new ResourceSampler(directory);
                StoreProfile profile = isOpen ? null : StoreProfile.start(ThreadTimes::tasks)) {
            flink.start();
            PhaseRun.warmUp(flink, target, Duration.ofMillis(plan.warmUpMs()));
            return isOpen ? open(flink, sampler) : closed(flink, sampler, profile);
        }
    }

    @Override
    protected QueryTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private QueryTrial closed(
            EmbeddedEngine flink, ResourceSampler sampler, @Nullable StoreProfile profile)
            throws Exception {
        Phase phase = Phase.closedLoop(target);
        ClosedLoopMeter meter = new ClosedLoopMeter(phase, profile);
        PhaseRun run = PhaseRun.fresh(flink, target, phase, meter);
        run.toItsEnd();
        LoopFigures figures = meter.figures(run.statistics());
        if (figures == null) {
            throw new CommandFailure("the closed loop ended within its ramp-up");
        }
        return plan.trial().with(meter.rows(), closedLoop(figures), resources(sampler));
    }

    private static QueryTrial.ClosedLoop closedLoop(LoopFigures figures) {
        return new QueryTrial.ClosedLoop(
                figures.eventsPerS(),
                figures.cpuUsPerEvent(),
                figures.taskCpuUsPerEvent(),
                figures.backgroundCpuUsPerEvent(),
                figures.storeWriteCpuUsPerEvent(),
                figures.storeReadCpuUsPerEvent(),
                figures.writtenMb());
    }

    private QueryTrial open(EmbeddedEngine flink, ResourceSampler sampler) throws Exception {
        Phase phase = plan.openLoop(target);
        OpenLoopMeter meter = new OpenLoopMeter(phase);
        PhaseRun.fresh(flink, target, phase, meter).toItsEnd();
        return plan.trial().with(meter.rows(), openLoop(meter), resources(sampler));
    }

    private QueryTrial.OpenLoop openLoop(OpenLoopMeter meter) {
        return new QueryTrial.OpenLoop(
                plan.ratePerS(),
                meter.latencyMs(50),
                meter.latencyMs(99),
                meter.latencyMs(99.9),
                meter.latencyMs(100),
                meter.longestPauseMs());
    }

    private static QueryTrial.Resources resources(ResourceSampler sampler) {
        return new QueryTrial.Resources(peakRssMb(), sampler.maxDiskMb());
    }

    private static @Nullable Double peakRssMb() {
        OptionalLong peak = ProcessFigures.peakResidentBytes();
        return peak.isPresent() ? peak.getAsLong() / BYTES_PER_MB : null;
    }
}
