package io.afterbay.cli;

import io.afterbay.bench.QueryTrial;
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
        this.handover = new Handover(directory);
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
        try (EmbeddedEngine engine = new EmbeddedEngine(arguments, memory, directory, false);
                ResourceSampler sampler = new ResourceSampler(directory)) {
            engine.start();
            PhaseRun.warmUp(engine, target, Duration.ofMillis(plan.warmUpMs()));
            handover.trial(
                    plan.ratePercent() == 0 ? closed(engine, sampler) : open(engine, sampler));
            return ExitCode.OK;
        } catch (Exception e) {
            if (arguments.verbose) {
                e.printStackTrace();
            }
            handover.trial(plan.trial().failed(Failures.explain(e, directory.toString())));
            return ExitCode.FAILURE;
        }
    }

    private QueryTrial closed(EmbeddedEngine engine, ResourceSampler sampler) throws Exception {
        Phase phase = Phase.closedLoop(target);
        ClosedLoopMeter meter = new ClosedLoopMeter(phase);
        PhaseRun run = PhaseRun.fresh(engine, target, phase, meter);
        run.toItsEnd();
        LoopFigures figures = meter.figures(run.statistics());
        if (figures == null) {
            throw new CommandFailure("the closed loop ended within its ramp-up");
        }
        QueryTrial none = plan.trial();
        return new QueryTrial(
                none.backend(),
                none.query(),
                none.cell(),
                none.ratePercent(),
                none.parameter(),
                none.value(),
                none.isDefault(),
                none.pair(),
                null,
                meter.rows(),
                figures.eventsPerS(),
                figures.cpuUsPerEvent(),
                figures.taskCpuUsPerEvent(),
                figures.backgroundCpuUsPerEvent(),
                figures.writtenMb(),
                null,
                null,
                null,
                null,
                null,
                null,
                peakRssMb(),
                sampler.maxDiskMb());
    }

    private QueryTrial open(EmbeddedEngine engine, ResourceSampler sampler) throws Exception {
        Phase phase = plan.openLoop(target);
        OpenLoopMeter meter = new OpenLoopMeter(phase);
        PhaseRun.fresh(engine, target, phase, meter).toItsEnd();
        QueryTrial none = plan.trial();
        return new QueryTrial(
                none.backend(),
                none.query(),
                none.cell(),
                none.ratePercent(),
                none.parameter(),
                none.value(),
                none.isDefault(),
                none.pair(),
                null,
                meter.rows(),
                null,
                null,
                null,
                null,
                null,
                plan.ratePerS(),
                meter.latencyMs(50),
                meter.latencyMs(99),
                meter.latencyMs(99.9),
                meter.latencyMs(100),
                meter.longestPauseMs(),
                peakRssMb(),
                sampler.maxDiskMb());
    }

    private static @Nullable Double peakRssMb() {
        OptionalLong peak = ProcessFigures.peakResidentBytes();
        return peak.isPresent() ? peak.getAsLong() / BYTES_PER_MB : null;
    }
}
