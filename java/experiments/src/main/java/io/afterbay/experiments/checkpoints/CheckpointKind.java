package io.afterbay.experiments.checkpoints;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.cli.engine.Backend;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.experiments.checkpoints.CheckpointTrial.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The experiment about checkpoints: what they cost at full speed, and how long they take at a fixed
 * rate of change.
 *
 * @param rounds see {@link TrialKind#rounds}
 */
record CheckpointKind(List<List<CheckpointPlan>> rounds)
        implements TrialKind<CheckpointPlan, CheckpointTrial> {

    @Override
    public String experiment() {
        return "checkpoints";
    }

    @Override
    public Class<? extends TrialWorker<CheckpointPlan, CheckpointTrial>> worker(
            CheckpointPlan plan) {
        return CheckpointWorker.class;
    }

    @Override
    public Class<CheckpointTrial> type() {
        return CheckpointTrial.class;
    }

    @Override
    public CheckpointTrial failed(CheckpointPlan plan, String reason) {
        return CheckpointTrial.failed(
                label(plan), plan.stateMib(), plan.intervalMs(), plan.pair(), reason);
    }

    private static String label(CheckpointPlan plan) {
        return Backend.named(plan.backend()).label();
    }

    @Override
    public CheckpointTrial failed(CheckpointTrial run, String reason) {
        return CheckpointTrial.failed(
                run.backend(), run.stateMib(), run.intervalMs(), run.pair(), reason);
    }

    @Override
    public boolean isOf(CheckpointPlan plan, CheckpointTrial run) {
        return run.backend().equals(label(plan))
                && run.stateMib() == plan.stateMib()
                && run.intervalMs() == plan.intervalMs()
                && run.pair() == plan.pair();
    }

    @Override
    public String describe(CheckpointTrial run) {
        Double eventsPerS = run.eventsPerS();
        String speed =
                eventsPerS == null
                        ? "not measured"
                        : String.format(Locale.ROOT, "%,.0f events/s", eventsPerS);
        return run.intervalMs() == 0
                ? speed
                : "%s, %d and %d checkpoints"
                        .formatted(
                                speed,
                                run.closedCheckpoints().size(),
                                run.openCheckpoints().size());
    }

    @Override
    public List<String> problems(CheckpointTrial run) {
        List<String> problems = new ArrayList<>();
        if (!Boolean.TRUE.equals(run.outputsRight())) {
            problems.add("its counts are not right");
        }
        int completed = run.closedCheckpoints().size() + run.openCheckpoints().size();
        if (run.intervalMs() == 0 && completed > 0) {
            problems.add("there were %d checkpoints with none configured".formatted(completed));
        }
        if (run.intervalMs() > 0) {
            problems.addAll(problemsOfCheckpoints(run));
        }
        return problems;
    }

    private static List<String> problemsOfCheckpoints(CheckpointTrial run) {
        if (run.closedCheckpoints().isEmpty() || run.openCheckpoints().isEmpty()) {
            return List.of("no checkpoint was completed in one of its loops; make them longer");
        }
        return run.openCheckpoints().stream().anyMatch(CheckpointKind::isPartOfAll)
                ? List.of()
                : List.of("no checkpoint wrote less than half of the state: none was incremental");
    }

    private static boolean isPartOfAll(Checkpoint checkpoint) {
        return checkpoint.newMb() < checkpoint.fullMb() / 2;
    }

    @Override
    public String report(List<RecordedTrial<CheckpointTrial>> trials) {
        return new CheckpointsPage(trials).details();
    }
}
