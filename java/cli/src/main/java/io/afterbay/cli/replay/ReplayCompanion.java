package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.run.RunCompanion;
import io.afterbay.command.CommandFailure;
import io.afterbay.replay.ReplayGraph;
import io.afterbay.replay.ReplayRange;
import io.afterbay.replay.ReplayRefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** Makes a run a replay: other sources, progress by record time, and an ear for other terminals. */
final class ReplayCompanion implements RunCompanion {
    private final ReplayDirectory directory;
    private final ReplayPlan plan;
    private final LinkedBlockingQueue<String> news = new LinkedBlockingQueue<>();

    ReplayCompanion(ReplayDirectory directory, ReplayPlan plan) {
        this.directory = directory;
        this.plan = plan;
    }

    @Override
    public void starting(EmbeddedEngine engine) throws CommandFailure {
        news.add("replay %s of %s".formatted(plan.id(), plan.range()));
        engine.submissions().rewriteBy(this::rewrite);
        directory.session(
                new ReplayDirectory.Session(
                        System.currentTimeMillis(), ReplayReport.of(directory).share()));
    }

    private void rewrite(StreamGraph job) throws CommandFailure {
        try {
            news.addAll(
                    ReplayGraph.rewrite(
                            job,
                            new ReplayRange(plan.fromMs(), plan.toMs()),
                            plan.id(),
                            directory.controlUri()));
        } catch (ReplayRefusedException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
    }

    @Override
    public List<String> news() {
        List<String> newest = new ArrayList<>();
        news.drainTo(newest);
        return newest;
    }

    @Override
    public Optional<String> progress(EngineFigures figures) {
        try {
            return Optional.of(ReplayReport.of(directory).line());
        } catch (CommandFailure e) {
            return Optional.of(CommandFailure.reason(e));
        }
    }

    @Override
    public boolean wantsEnd() {
        return directory.isCancelWanted();
    }

    @Override
    public void ended(Outcome outcome) throws CommandFailure {
        directory.ended(outcome);
    }
}
