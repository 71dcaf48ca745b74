package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.replay.ReplayLock.Holder;
import io.afterbay.cli.replay.live.LiveBudget;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.Handover;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.replay.merge.MergeFigures;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of one replay, so that another process finds it, tells it something, or starts it
 * again:
 *
 * <pre>
 *   plan.json, settings.json   what it does, and how its engine is
 *   checkpoints/               of the job, as Flink makes them
 *   control/                   its rate, which job does it, and how far it is (ReplayControl)
 *   rate.json                  the rate that was asked for, also while it is paused
 *   timeline.jsonl             the rates that it had, and why (RateTimeline)
 *   budget.json                what the live job may need, if that decides on the rate
 *   job.json                   its job, if that is on a cluster
 *   live.json                  the live job, if that was stopped for it (LiveStop)
 *   session.json               since when its newest process is at work
 *   priority.json              what its newest process leaves to others, if that is on this machine
 *   command.lock, worker.lock  locked as long as these processes live
 *   cancel                     it is to end
 *   outcome.json               how it has ended
 * </pre>
 */
final class ReplayDirectory {
    private static final String PLAN = "plan.json";
    private static final String OUTCOME = "outcome.json";
    private static final String SESSION = "session.json";
    private static final String TIMELINE = "timeline.jsonl";
    private static final String BUDGET = "budget.json";
    private static final String PRIORITY = "priority.json";
    private static final String LIVE_STOP = "live.json";

    private final Path directory;
    private final Function<ClusterAddress, ClusterRest> clusters;
    private final Handover handover;
    private final ReplayLock lock;
    private final NotedFiles files;
    private final NotedOrders orders;
    private final RateTimeline timeline;
    private @Nullable ReplayStorage storage;

    /**
     * @param startedMs when its process began
     */
    record Session(long startedMs) {}

    /** How it has ended. */
    record Ended(ReplayState state, @Nullable String problem) {}

    private ReplayDirectory(Path directory) {
        this(directory, ClusterRest::new);
    }

    private ReplayDirectory(Path directory, Function<ClusterAddress, ClusterRest> clusters) {
        this.directory = directory;
        this.clusters = clusters;
        this.handover = JsonHandover.in(directory);
        this.lock = new ReplayLock(directory);
        this.files = new NotedFiles(directory);
        this.orders = new NotedOrders(files, this::exists, told -> control().give(told));
        this.timeline = new RateTimeline(directory.resolve(TIMELINE));
    }

    /** Of a replay that begins. */
    static ReplayDirectory create(
            Path root, ReplayPlan plan, EngineSettings engine, RateChoice rate)
            throws CommandFailure {
        Path directory = root.resolve(plan.id());
        ReplayDirectory created = new ReplayDirectory(directory);
        try {
            Files.createDirectories(root);
            if (Files.exists(directory)) {
                throw new CommandFailure(
                        "--id %s: there is a replay of that name; choose another, or see: ./afterbay replay status %s%s"
                                .formatted(plan.id(), plan.id(), ReplayPlace.option(root)));
            }
            ReplayStorage storage = ReplayStorage.of(plan, engine, directory);
            storage.requireUnused();
            Path whole = Files.createTempDirectory(root, KeptReplays.UNFINISHED);
            ReplayDirectory making = new ReplayDirectory(whole);
            making.handover.plan(plan);
            making.handover.settings(engine.keepingCheckpoints(storage.checkpoints().toString()));
            making.orders.begin(rate.wanted(false));
            // As long as it has no rate, a replay does not begin.
            new ReplayControl(storage.control(whole)).setRate(rate.perSecond());
            Files.move(whole, directory, StandardCopyOption.ATOMIC_MOVE);
            return created;
        } catch (IOException e) {
            throw new CommandFailure(
                    "%s: %s; name another with --dir DIR"
                            .formatted(directory, CommandFailure.reason(e)),
                    e);
        }
    }

    static ReplayDirectory of(Path directory) {
        return new ReplayDirectory(directory);
    }

    /**
     * @param clusters gives what asks a cluster
     */
    static ReplayDirectory of(Path directory, Function<ClusterAddress, ClusterRest> clusters) {
        return new ReplayDirectory(directory, clusters);
    }

    Path path() {
        return directory;
    }

    ClusterRest rest(ClusterAddress cluster) {
        return clusters.apply(cluster);
    }

    Path root() {
        return Objects.requireNonNull(directory.toAbsolutePath().normalize().getParent());
    }

    ReplayPlan plan() throws CommandFailure {
        return files.read(PLAN, () -> handover.plan(ReplayPlan.class));
    }

    EngineSettings engine() throws CommandFailure {
        return files.read("settings.json", () -> handover.settings(EngineSettings.class));
    }

    private ReplayStorage storage() throws CommandFailure {
        ReplayStorage known = storage;
        if (known == null) {
            known = ReplayStorage.of(plan(), engine(), directory);
            storage = known;
        }
        return known;
    }

    URI controlUri() throws CommandFailure {
        return storage().control();
    }

    private ReplayControl control() throws CommandFailure {
        return new ReplayControl(controlUri());
    }

    String checkpointsUri() throws CommandFailure {
        return storage().checkpoints().toString();
    }

    /** The newest complete checkpoint, if there is one. */
    Optional<String> newestCheckpoint() throws CommandFailure {
        return RestorePoint.newest(checkpointsUri()).map(point -> point.path().toString());
    }

    /** When that was written. */
    Optional<Instant> newestCheckpointAt() throws CommandFailure {
        return RestorePoint.newest(checkpointsUri())
                .map(point -> Instant.ofEpochMilli(point.modifiedMs()));
    }

    void removeCheckpoints() throws CommandFailure {
        storage().removeCheckpoints();
    }

    /** It begins again: what is known of how far it was is no longer so. */
    void forgetProgress() throws CommandFailure {
        try {
            control().forgetProgress();
        } catch (IOException e) {
            throw files.failure("control", e);
        }
    }

    /**
     * Nothing is left of it, also elsewhere. Whoever tells it something meanwhile does so before,
     * or never.
     */
    void remove() throws CommandFailure {
        Path removed = directory.resolveSibling(KeptReplays.REMOVED + UUID.randomUUID());
        WorkDirectory.remove(
                orders.alone(
                        () -> {
                            storage().remove();
                            // At once: half of a replay would be neither there nor gone.
                            return Files.move(directory, removed, StandardCopyOption.ATOMIC_MOVE);
                        }));
    }

    String savepointsUri() throws CommandFailure {
        return storage().savepoints().toString();
    }

    /** Whether the live job has left a savepoint here, which is complete. */
    boolean hasSavepoint() throws CommandFailure {
        return RestorePoint.newest(savepointsUri()).isPresent();
    }

    /** Of a live job that was stopped for it; empty if none was yet. */
    Optional<LiveStop> liveStop() throws CommandFailure {
        return files.find(LIVE_STOP, LiveStop.class);
    }

    void liveStop(LiveStop stop) throws CommandFailure {
        files.write(LIVE_STOP, stop);
    }

    /** The live job runs as it did. */
    void forgetLiveStop() throws CommandFailure {
        files.delete(LIVE_STOP);
    }

    /** Whether a live job is stopped, or about to be. */
    boolean isLiveStopped() throws CommandFailure {
        return liveStop().filter(stop -> stop.phase() != LiveStop.Phase.BACK).isPresent();
    }

    /** Whether nothing else is left to do than to start the live job again. */
    boolean needsLiveBack() throws CommandFailure {
        return isLiveStopped() && (isCancelWanted() || hasFinished());
    }

    /** The job that it has on a cluster, or had; empty if none was sent there yet. */
    Optional<ReplayJob> job() throws CommandFailure {
        return orders.job();
    }

    /**
     * Before it is sent: who is ended in between looks for a job that is not there. No other job
     * does the replay from then on.
     */
    void job(ReplayJob job) throws CommandFailure {
        orders.job(job);
    }

    /**
     * It begins again, with another one: whatever was sent, and may still be on its way, is not
     * wanted from now on.
     *
     * @return the one that was noted; empty if there was none
     */
    Optional<ReplayJob> supersedeJob() throws CommandFailure {
        return orders.supersedeJob();
    }

    boolean exists() {
        return Files.exists(directory.resolve(PLAN));
    }

    Optional<ReplayProgress> progress() throws CommandFailure {
        return ReplayProgress.of(progressOfSources());
    }

    /** Of each source; empty until the first has told something. */
    List<ReplayProgress> progressOfSources() throws CommandFailure {
        return files.read("control", () -> control().progressOfSources());
    }

    /** Empty if its rows are not merged with others, or not yet. */
    Optional<MergeFigures> merged() throws CommandFailure {
        return files.read("control", () -> control().merged());
    }

    WantedRate rate() throws CommandFailure {
        return orders.rate();
    }

    /** Tells another rate, and notes it. */
    void rate(RateChoice rate) throws CommandFailure {
        WantedRate wanted = orders.change(known -> rate.wanted(known.paused()));
        timelineEntry(
                RateTimeline.Entry.now(
                        wanted.rate(),
                        rate.isAdaptive() ? "asked for: adaptive" : "asked for",
                        recordsPerSecond(),
                        null));
    }

    /** Lets no records come, or lets them come again. */
    void pause(boolean isPaused) throws CommandFailure {
        boolean before = rate().paused();
        WantedRate wanted = orders.change(known -> known.paused(isPaused));
        if (before != isPaused) {
            timelineEntry(
                    RateTimeline.Entry.now(
                            isPaused ? 0 : wanted.rate(),
                            isPaused ? "paused" : "resumed",
                            recordsPerSecond(),
                            null));
        }
    }

    /**
     * Tells what the live job has decided.
     *
     * @return false if somebody wants another rate meanwhile
     */
    boolean adapt(double rate) throws CommandFailure {
        return orders.change(
                        known ->
                                known.adaptive() && !known.paused()
                                        ? new WantedRate(rate, false, true)
                                        : known)
                .equals(new WantedRate(rate, false, true));
    }

    private double recordsPerSecond() throws CommandFailure {
        return progress().map(ReplayProgress::recordsPerSecond).orElse(0.0);
    }

    void timelineEntry(RateTimeline.Entry entry) throws CommandFailure {
        try {
            timeline.add(entry);
        } catch (IOException e) {
            throw files.failure(TIMELINE, e);
        }
    }

    /** The newest changes of the rate, oldest first. */
    List<RateTimeline.Entry> timeline() throws CommandFailure {
        return files.read(TIMELINE, timeline::entries);
    }

    /** What the live job may need; empty if it was not measured. */
    Optional<LiveBudget> budget() throws CommandFailure {
        return files.find(BUDGET, LiveBudget.class);
    }

    void budget(LiveBudget budget) throws CommandFailure {
        files.write(BUDGET, budget);
    }

    Optional<Session> session() throws CommandFailure {
        return files.find(SESSION, Session.class);
    }

    void session(Session session) throws CommandFailure {
        files.write(SESSION, session);
    }

    /** Empty if it is on a cluster, or has not begun yet. */
    Optional<Priority> priority() throws CommandFailure {
        return files.find(PRIORITY, Priority.class);
    }

    /** Of its next process: that of the newest one, if there was one. */
    int nice() throws CommandFailure {
        Integer ofPlan = plan().nice();
        return priority().map(Priority::nice).orElse(ofPlan == null ? Nice.usual() : ofPlan);
    }

    void priority(Priority priority) throws CommandFailure {
        files.write(PRIORITY, priority);
    }

    Optional<Ended> ended() throws CommandFailure {
        return files.find(OUTCOME, Ended.class);
    }

    /** When that was noted. */
    Optional<Instant> endedAt() throws CommandFailure {
        return files.has(OUTCOME)
                ? Optional.of(
                        files.read(
                                OUTCOME,
                                () -> Files.getLastModifiedTime(files.path(OUTCOME)).toInstant()))
                : Optional.empty();
    }

    boolean hasFinished() throws CommandFailure {
        return ended().filter(ended -> ended.state() == ReplayState.FINISHED).isPresent();
    }

    void ended(Outcome outcome) throws CommandFailure {
        if (outcome.isFinished()) {
            files.write(OUTCOME, new Ended(ReplayState.FINISHED, null));
        } else if (isCancelWanted()) {
            files.write(OUTCOME, new Ended(ReplayState.CANCELLED, null));
        } else if (outcome.problem() != null) {
            files.write(OUTCOME, new Ended(ReplayState.FAILED, outcome.problem()));
        }
    }

    /** It ends for good: nothing is left to start it again from. */
    void cancelled() throws CommandFailure {
        files.write(OUTCOME, new Ended(ReplayState.CANCELLED, null));
        removeCheckpoints();
    }

    /** Its job has finished on a cluster while nobody waited for it. */
    void finished() throws CommandFailure {
        files.write(OUTCOME, new Ended(ReplayState.FINISHED, null));
        removeCheckpoints();
    }

    /** Its job has failed on a cluster while nobody waited for it. */
    void failed(String problem) throws CommandFailure {
        files.write(
                OUTCOME,
                isCancelWanted()
                        ? new Ended(ReplayState.CANCELLED, null)
                        : new Ended(ReplayState.FAILED, problem));
    }

    /** It is started again. */
    void forgetEnd() throws CommandFailure {
        files.delete(OUTCOME);
    }

    boolean isCancelWanted() {
        return orders.isCancelled();
    }

    /**
     * Ends it, once and for all: a job of it that is on its way to a cluster, where nobody can ask
     * for it, is told so before it begins. So ask for its job after this, and not before. Does
     * nothing if the directory is gone.
     */
    void wantCancel() throws CommandFailure {
        orders.cancel();
    }

    /**
     * Holds it until {@link #release}, or the end of this process; does nothing if it does already.
     *
     * @return false if another process does
     */
    boolean hold(Holder holder) throws CommandFailure, InterruptedException {
        try {
            return lock.hold(holder);
        } catch (IOException e) {
            throw files.failure("lock", e);
        }
    }

    void release() throws CommandFailure {
        try {
            lock.release();
        } catch (IOException e) {
            throw files.failure("lock", e);
        }
    }

    /** Whether a process of it lives. */
    boolean isHeld() throws CommandFailure {
        return files.read("lock", lock::isHeld);
    }

    /** Whether a process of it lives beside this one. */
    boolean isHeldByAnother() throws CommandFailure {
        return files.read("lock", lock::isHeldByAnother);
    }

    ReplayState state() throws CommandFailure {
        return new ReplayActivity(this).state();
    }

    /**
     * The job on a cluster that does the replay now, though no process here waits for it.
     *
     * @throws CommandFailure if nobody knows
     */
    Optional<ReplayJob> jobAtWork() throws CommandFailure {
        return new ReplayActivity(this).jobAtWork();
    }

    /**
     * Ends a job of it, which may not be the one that is noted.
     *
     * @return false if it is still at work when the time is over
     * @throws CommandFailure if nobody knows
     */
    boolean end(ReplayJob job, Waiting waiting) throws CommandFailure, InterruptedException {
        return new ReplayActivity(this).end(job, waiting);
    }
}
