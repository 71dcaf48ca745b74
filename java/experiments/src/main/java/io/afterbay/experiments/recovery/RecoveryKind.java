package io.afterbay.experiments.recovery;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.cli.engine.Backend;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The experiment about recovery: how long a job stands still after its TaskManager was killed.
 *
 * @param rounds see {@link TrialKind#rounds}
 */
record RecoveryKind(List<List<RecoveryPlan>> rounds)
        implements TrialKind<RecoveryPlan, RecoveryTrial> {

    @Override
    public String experiment() {
        return "recovery";
    }

    @Override
    public Class<? extends TrialWorker<RecoveryPlan, RecoveryTrial>> worker(RecoveryPlan plan) {
        return RecoveryWorker.class;
    }

    @Override
    public Class<RecoveryTrial> type() {
        return RecoveryTrial.class;
    }

    @Override
    public RecoveryTrial failed(RecoveryPlan plan, String reason) {
        return RecoveryTrial.failed(
                label(plan),
                plan.stateMib(),
                plan.killedPercent(),
                plan.local(),
                plan.pair(),
                reason);
    }

    private static String label(RecoveryPlan plan) {
        return Backend.named(plan.backend()).label();
    }

    @Override
    public RecoveryTrial failed(RecoveryTrial run, String reason) {
        return RecoveryTrial.failed(
                run.backend(),
                run.stateMib(),
                run.killedPercent(),
                run.localRecovery(),
                run.pair(),
                reason);
    }

    @Override
    public boolean isOf(RecoveryPlan plan, RecoveryTrial run) {
        return run.backend().equals(label(plan))
                && run.stateMib() == plan.stateMib()
                && run.killedPercent() == plan.killedPercent()
                && run.localRecovery() == plan.local()
                && run.pair() == plan.pair();
    }

    @Override
    public String describe(RecoveryTrial run) {
        return String.format(
                Locale.ROOT,
                "first event after %,.0f ms, caught up after %,.0f ms",
                run.firstEventMs(),
                run.caughtUpMs());
    }

    @Override
    public List<String> problems(RecoveryTrial run) {
        List<String> problems = new ArrayList<>();
        if (!Boolean.TRUE.equals(run.outputsRight())) {
            problems.add("its counts are not right");
        }
        long expected = run.localRecovery() ? run.instances() : 0;
        if (run.localInstances() != expected) {
            problems.add(
                    "%d of %d instances were restored from the local disk, with local recovery %s"
                            .formatted(
                                    run.localInstances(),
                                    run.instances(),
                                    run.localRecovery() ? "on" : "off"));
        }
        return problems;
    }

    @Override
    public String report(List<RecordedTrial<RecoveryTrial>> trials) {
        return new RecoveryPage(trials).details();
    }
}
