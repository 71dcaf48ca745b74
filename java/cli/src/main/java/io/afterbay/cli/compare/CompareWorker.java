package io.afterbay.cli.compare;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.measure.ClosedLoopMeter;
import io.afterbay.cli.measure.ForeignMeter;
import io.afterbay.cli.measure.OpenLoopMeter;
import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.PhaseRun;
import io.afterbay.cli.measure.ResourceSampler;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.measure.ThreadTimes;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.SystemExit;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.profile.StoreProfile;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A process of a comparison: runs one backend through the phases of one round, all on the same
 * engine, so that what is counted has been warmed up. A task that fails is not started again: a run
 * with a restart in it is no run to compare with.
 */
final class CompareWorker {
    private final Target target;
    private final EngineSettings engine;
    private final Assignment assignment;
    private final Path directory;
    private final Handover handover;
    private final RunFindings findings;

    private CompareWorker(
            Target target, EngineSettings engine, Assignment assignment, Path directory) {
        this.target = target;
        this.engine = engine;
        this.assignment = assignment;
        this.directory = directory;
        this.handover = JsonHandover.in(directory);
        this.findings = new RunFindings(engine.backend().label(), assignment.pair());
    }

    public static void main(String[] args) throws Exception {
        Signals.handle(code -> Runtime.getRuntime().halt(code));
        Path directory = WorkDirectory.ofWorker().orElseThrow();
        WorkDirectory.dieWithParent(directory);
        Handover handover = JsonHandover.in(directory);
        ComparedRun plan = handover.plan(ComparedRun.class);
        EngineSettings engine = handover.settings(EngineSettings.class);
        int code = new CompareWorker(plan.target(), engine, plan.assignment(), directory).run();
        System.out.flush();
        System.err.flush();
        // Nothing is left to do that a hook of the engine could wait for.
        Runtime.getRuntime().halt(code);
    }

    private int run() throws IOException {
        if (target.isForeign()) {
            SystemExit.watch(this::exiting);
        }
        try (EmbeddedEngine flink = new EmbeddedEngine(engine, directory, target.isForeign());
                ResourceSampler sampler = new ResourceSampler(directory);
                StoreProfile profile = StoreProfile.start(ThreadTimes::tasks)) {
            flink.start();
            run(flink, sampler, profile);
            return ExitCode.OK;
        } catch (Exception e) {
            handover.trial(findings.findings().failed(explain(e)));
            return ExitCode.FAILURE;
        }
    }

    private void exiting() {
        try {
            handover.trial(
                    findings.findings()
                            .failed(
                                    "the JVM was ended from within: the job calls System.exit, or the engine met a fatal error"));
        } catch (IOException e) {
            // The exit code still says that it failed.
        }
        Runtime.getRuntime().halt(ExitCode.FAILURE);
    }

    private String explain(Exception failure) {
        if (engine.verbose()) {
            failure.printStackTrace();
        }
        return failure instanceof CommandFailure
                ? CommandFailure.reason(failure)
                : Failures.explain(failure, directory.toString());
    }

    private void run(EmbeddedEngine engine, ResourceSampler sampler, @Nullable StoreProfile profile)
            throws Exception {
        PhaseRun.warmUp(engine, target, Duration.ofMillis(assignment.warmUpMs()));
        if (target.isForeign()) {
            asItIs(engine, sampler, profile);
            return;
        }
        closedLoop(engine, profile);
        findings.disk(sampler.maxDiskMb());
        handover.trial(findings.findings());
        if (assignment.ratePerS() > 0) {
            openLoop(engine, sampler);
            findings.disk(sampler.maxDiskMb());
            handover.trial(findings.findings());
        }
    }

    private void asItIs(
            EmbeddedEngine engine, ResourceSampler sampler, @Nullable StoreProfile profile)
            throws Exception {
        ForeignMeter meter = new ForeignMeter(profile);
        PhaseRun run = PhaseRun.fresh(engine, target, Phase.foreign(), meter);
        boolean whole = run.upTo(target.duration());
        findings.foreign(
                meter,
                run.statistics(),
                engine.checkpoints(),
                sampler.since(meter.startNanos()),
                whole ? run.rowSum() : null);
        findings.disk(sampler.maxDiskMb());
        handover.trial(findings.findings());
    }

    private void closedLoop(EmbeddedEngine engine, @Nullable StoreProfile profile)
            throws Exception {
        Phase phase = Phase.closedLoop(target);
        ClosedLoopMeter meter = new ClosedLoopMeter(phase, profile);
        PhaseRun run = PhaseRun.fresh(engine, target, phase, meter);
        run.toItsEnd();
        findings.closedLoop(meter.figures(run.statistics()), meter.rows());
    }

    private void openLoop(EmbeddedEngine engine, ResourceSampler sampler) throws Exception {
        Phase phase = Phase.openLoop(target, assignment.ratePerS(), assignment.latencyMs());
        OpenLoopMeter meter = new OpenLoopMeter(phase);
        PhaseRun.fresh(engine, target, phase, meter).toItsEnd();
        findings.openLoop(meter, engine.checkpoints(), sampler.since(meter.startNanos()));
    }
}
