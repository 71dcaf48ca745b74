package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.engine.Submissions;
import io.afterbay.cli.job.ExternalSinks;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.replay.live.LiveJob;
import io.afterbay.cli.run.RunCompanion;
import io.afterbay.command.CommandFailure;
import io.afterbay.replay.MergePlan;
import io.afterbay.replay.ReplayGraph;
import io.afterbay.replay.ReplayRange;
import io.afterbay.replay.ReplayRefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/** Makes a run a replay: other sources, progress by record time, and an ear for other terminals. */
final class ReplayCompanion implements RunCompanion, AutoCloseable {
    private final ReplayDirectory directory;
    private final ReplayPlan plan;
    private final LinkedBlockingQueue<String> news = new LinkedBlockingQueue<>();
    private final @Nullable LiveJob live;
    private final @Nullable BlockedLive blocked;

    /** By a command before this one. */
    private final @Nullable ReplayJob sent;

    /** Whether a process before this one has begun it, so that it is not this one's to remove. */
    private final boolean isResumed;

    private final CheckpointWatch checkpoints;
    private @Nullable AdaptiveReplay adaptive;
    private volatile List<java.nio.file.Path> libraries = List.of();
    private volatile @Nullable Submissions<?> submissions;
    private int jobs;

    /**
     * @param blocked the live job, if it is to be stopped
     */
    ReplayCompanion(ReplayDirectory directory, ReplayPlan plan, @Nullable BlockedLive blocked)
            throws CommandFailure {
        this.blocked = blocked;
        this.sent = directory.job().orElse(null);
        this.isResumed = directory.session().isPresent();
        this.directory = directory;
        this.plan = plan;
        this.live = plan.live() == null ? null : new LiveJob(plan.live());
        this.checkpoints = CheckpointWatch.of(directory);
    }

    @Override
    public void starting(Engine engine) throws CommandFailure, InterruptedException {
        if (live != null && !hasBegun()) {
            live.requireRunning();
        }
        if (blocked != null) {
            engine.submissions().beforeSubmission(job -> stop(blocked));
        }
        if (live != null && (directory.rate().adaptive() || directory.budget().isPresent())) {
            adaptive = AdaptiveReplay.start(directory, live);
        }
        libraries = engine.libraries();
        String priority = directory.priority().map(known -> ", with " + known.text()).orElse("");
        news.add("replay %s of %s%s".formatted(plan.id(), plan.range(), priority));
        submissions = engine.submissions();
        engine.submissions().rewriteBy(this::rewrite);
        directory.session(new ReplayDirectory.Session(System.currentTimeMillis()));
    }

    private void rewrite(StreamGraph job) throws CommandFailure {
        if (jobs++ > 0) {
            throw new CommandFailure(
                    "the program starts a second job, '%s': a replay is of one; start each by a program of its own"
                            .formatted(job.getName()));
        }
        requireSameGraph(job);
        libraries.forEach(jar -> job.addJar(new Path(jar.toUri())));
        checkpointHere(job);
        MergePlan merge = merge(job);
        // Its sources are told by it whether they are wanted.
        unseen().ifPresent(job::setJobId);
        try {
            news.addAll(
                    ReplayGraph.rewrite(
                            job,
                            new ReplayRange(plan.fromMs(), plan.toMs()),
                            plan.id(),
                            directory.controlUri(),
                            merge));
        } catch (ReplayRefusedException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
        ClusterAddress cluster = plan.on();
        if (cluster != null) {
            directory.job(new ReplayJob(cluster, job.getJobID().toHexString()));
        }
    }

    private Optional<JobID> unseen() throws CommandFailure {
        try {
            return sent == null ? Optional.empty() : sent.unseen(directory);
        } catch (ClusterException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted", e);
        }
    }

    private void stop(BlockedLive running) throws CommandFailure {
        try {
            running.stop();
            news.add(
                    "the live job is stopped, at "
                            + directory.liveStop().orElseThrow().savepoint());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted", e);
        }
    }

    /** It has those of the live job. */
    @Override
    public boolean needsFreeSlots() {
        return !plan.isBlocking();
    }

    /** The live job was looked at then, and may have ended since. */
    private boolean hasBegun() throws CommandFailure {
        return directory.isLiveStopped() || sent != null || directory.progress().isPresent();
    }

    /** With an output of its own, a job may have sinks of other names. */
    private void requireSameGraph(StreamGraph job) throws CommandFailure {
        if (live == null || hasBegun()) {
            return;
        }
        try {
            live.requireGraph(job, plan.merge() == null && !plan.isBlocking());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted", e);
        }
    }

    private @Nullable MergePlan merge(StreamGraph job) throws CommandFailure {
        ReplayPlan.Merge merge = plan.merge();
        if (merge == null) {
            return null;
        }
        ExternalSinks.refuse(
                job,
                ReplayGraph::isMergeable,
                ", and only sinks to Kafka can be merged with the live job's output; let the job write elsewhere, and say so by --own-output in place of --mode beside");
        Long sinceMs = merge.sinceMs();
        return new MergePlan(
                Resolvers.find(merge.resolver(), Thread.currentThread().getContextClassLoader()),
                sinceMs == null ? plan.toMs() : sinceMs);
    }

    /** Whatever the job says: its own place is that of the live job. */
    private void checkpointHere(StreamGraph job) throws CommandFailure {
        CheckpointConfig checkpoints = job.getCheckpointConfig();
        if (job.getJobType() == JobType.BATCH || !checkpoints.isCheckpointingEnabled()) {
            throw new CommandFailure(
                    "job '%s' sets execution.runtime-mode to BATCH, or checkpoints off: a replay goes on by checkpoints; take that out of its code"
                            .formatted(job.getName()));
        }
        job.getJobConfiguration()
                .set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, directory.checkpointsUri());
        checkpoints.setExternalizedCheckpointRetention(
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    }

    @Override
    public List<Class<?>> libraries() {
        return List.of(ReplayGraph.class);
    }

    /**
     * Whether it was refused before it did anything; it does nothing from now on. The program's own
     * thread may be stopping the live job at this moment.
     */
    boolean hasNothingBegun() throws CommandFailure {
        Submissions<?> known = submissions;
        return (known == null || known.close())
                && !isResumed
                && sent == null
                && Objects.equals(plan.run().from(), plan.fromSavepoint())
                && !directory.isLiveStopped()
                && !(plan.isBlocking() && directory.hasSavepoint())
                && directory.progress().isEmpty();
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
            return Optional.of(
                    ReplayReport.of(directory).line() + checkpoints.note(figures.completed()));
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

    @Override
    public void report(ObjectNode root) throws CommandFailure {
        ReplayReport.of(directory).json(root.putObject("replay"));
    }

    @Override
    public void close() throws InterruptedException {
        if (adaptive != null) {
            adaptive.close();
        }
    }
}
