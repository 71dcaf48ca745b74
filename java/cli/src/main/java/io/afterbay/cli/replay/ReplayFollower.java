package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.job.SummaryJson;
import io.afterbay.cli.process.Interruption;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.replay.live.LiveJob;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Follows the job of a replay that runs on a cluster although the command that sent it there has
 * ended: shows how far it is, adapts its rate, and reports.
 */
final class ReplayFollower {
    private static final long TICK_MS = 200;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final ReplayDirectory directory;
    private final ReplayPlan plan;
    private final ReplayJob job;
    private long silentSinceNanos = System.nanoTime();
    private final Interruption interruption = new Interruption();
    private final ProgressLine progress = new ProgressLine(System.err, Terminal.isStandardError());

    private ReplayFollower(ReplayDirectory directory, ReplayJob job) throws CommandFailure {
        this.directory = directory;
        this.plan = directory.plan();
        this.job = job;
    }

    /**
     * Returns when its job has ended.
     *
     * @return the exit code
     */
    static int follow(ReplayDirectory directory, ReplayJob job)
            throws CommandFailure, InterruptedException {
        if (!directory.hold(ReplayLock.Holder.COMMAND)) {
            throw new CommandFailure("replay %s runs already".formatted(directory.plan().id()));
        }
        try {
            return new ReplayFollower(directory, job).run();
        } finally {
            directory.release();
        }
    }

    private int run() throws CommandFailure, InterruptedException {
        interruption.listen();
        progress.say(
                "replay %s of %s runs as job %s at %s"
                        .formatted(plan.id(), plan.range(), job.id(), job.cluster()));
        AdaptiveReplay adaptive = adaptive();
        try {
            boolean isCancelled = false;
            while (!hasEnded()) {
                if (!isCancelled && (interruption.isRaised() || directory.isCancelWanted())) {
                    isCancelled = job.cancel(directory);
                }
                if (progress.isDue()) {
                    progress.show(ReplayReport.of(directory).line());
                }
                Thread.sleep(TICK_MS);
            }
        } finally {
            if (adaptive != null) {
                adaptive.close();
            }
            progress.clear();
        }
        return report();
    }

    /** A JobManager that restarts answers again later. */
    private boolean hasEnded() throws CommandFailure {
        try {
            boolean hasEnded = job.hasEnded(directory);
            silentSinceNanos = System.nanoTime();
            return hasEnded;
        } catch (ClusterException e) {
            if (System.nanoTime() - silentSinceNanos > PATIENCE.toNanos()) {
                throw new CommandFailure(
                        "the cluster has not answered for %d s: %s"
                                .formatted(PATIENCE.toSeconds(), CommandFailure.reason(e)),
                        e);
            }
            return false;
        }
    }

    private @Nullable AdaptiveReplay adaptive() throws CommandFailure, InterruptedException {
        return plan.live() != null && directory.budget().isPresent()
                ? AdaptiveReplay.start(directory, new LiveJob(plan.live()))
                : null;
    }

    private int report() throws CommandFailure {
        Outcome outcome = outcome();
        directory.ended(outcome);
        if (plan.run().json() != null) {
            ObjectNode root = SummaryJson.root(plan.title(), outcome);
            ReplayReport.of(directory).json(root.putObject("replay"));
            SummaryJson.write(Path.of(Objects.requireNonNull(plan.run().json())), root);
        }
        if (!directory.needsLiveBack()) {
            ReplayReport report = ReplayReport.of(directory);
            System.err.println(report.line() + report.way());
        }
        if (outcome.problem() != null) {
            throw new CommandFailure(outcome.problem());
        }
        return outcome.exitCode();
    }

    private Outcome outcome() throws CommandFailure {
        ReplayDirectory.Ended ended = directory.ended().orElse(null);
        if (ended != null && ended.state() == ReplayState.FINISHED) {
            return Outcome.finished();
        }
        if (ended != null && ended.state() == ReplayState.FAILED) {
            return Outcome.failed(Objects.requireNonNullElse(ended.problem(), "it has failed"));
        }
        return interruption.isRaised()
                ? Outcome.interrupted(interruption.exitCode())
                : Outcome.failed(
                        directory.isCancelWanted()
                                ? "ended from another terminal"
                                : "its job was cancelled, or its cluster was started again");
    }
}
