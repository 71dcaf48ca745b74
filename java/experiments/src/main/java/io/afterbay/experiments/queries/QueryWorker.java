package io.afterbay.experiments.queries;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.measure.ClosedLoopMeter;
import io.afterbay.cli.measure.LoopFigures;
import io.afterbay.cli.measure.OpenLoopMeter;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.PhaseRun;
import io.afterbay.cli.measure.ResourceSampler;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.measure.ThreadTimes;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.profile.StoreProfile;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** The second process of an experiment with a NEXMark query: warm-up, then one counted loop. */
final class QueryWorker {
    private static final double BYTES_PER_MB = 1e6;

    private final EngineArguments arguments;
    private final Path directory;
    private final Handover handover;
    private final QueryPlan plan;
    private final MemorySplit memory;
    private final Target target;

    QueryWorker(EngineArguments arguments, CommandLine command) throws IOException {
        this.arguments = arguments;
        this.directory = WorkDirectory.ofWorker().orElseThrow();
        this.handover = JsonHandover.in(directory);
        this.plan = handover.plan(QueryPlan.class);
        this.target = plan.target();
        arguments.backend = Backend.named(plan.backend());
        arguments.restartsMax = 0;
        plan.configure(arguments, command);
        this.memory = arguments.memorySplit(command);
        arguments.properties.addDefaults(plan.settings());
    }

    int run() throws IOException {
        Signals.handle(code -> Runtime.getRuntime().halt(code));
        WorkDirectory.dieWithParent(directory);
        boolean isOpen = plan.ratePercent() > 0;
        try (EmbeddedEngine engine = new EmbeddedEngine(arguments, memory, directory, false);
                ResourceSampler sampler = new ResourceSampler(directory);
                StoreProfile profile = isOpen ? null : StoreProfile.start(ThreadTimes::tasks)) {
            engine.start();
            PhaseRun.warmUp(engine, target, Duration.ofMillis(plan.warmUpMs()));
            handover.trial(isOpen ? open(engine, sampler) : closed(engine, sampler, profile));
            return ExitCode.OK;
        } catch (Exception e) {
            if (arguments.verbose) {
                e.printStackTrace();
            }
            handover.trial(plan.trial().failed(Failures.explain(e, directory.toString())));
            return ExitCode.FAILURE;
        }
    }

    private QueryTrial closed(
            EmbeddedEngine engine, ResourceSampler sampler, @Nullable StoreProfile profile)
            throws Exception {
        Phase phase = Phase.closedLoop(target);
        ClosedLoopMeter meter = new ClosedLoopMeter(phase, profile);
        PhaseRun run = PhaseRun.fresh(engine, target, phase, meter);
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

    private QueryTrial open(EmbeddedEngine engine, ResourceSampler sampler) throws Exception {
        Phase phase = plan.openLoop(target);
        OpenLoopMeter meter = new OpenLoopMeter(phase);
        PhaseRun.fresh(engine, target, phase, meter).toItsEnd();
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
