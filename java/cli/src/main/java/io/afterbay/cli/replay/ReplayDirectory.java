package io.afterbay.cli.replay;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
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
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of one replay, so that another process finds it, tells it something, or starts it
 * again:
 *
 * <pre>
 *   plan.json, settings.json   what it does, and how its engine is
 *   checkpoints/               of the job, as Flink makes them
 *   control/                   its rate, and how far it is (ReplayControl)
 *   rate.json                  the rate that was asked for, also while it is paused
 *   timeline.jsonl             the rates that it had, and why (RateTimeline)
 *   budget.json                what the live job may need, if that decides on the rate
 *   job.json                   its job, if that is on a cluster
 *   live.json                  the live job, if that was stopped for it (LiveStop)
 *   session.json               when its process began, and how far it was then
 *   command.lock, worker.lock  locked as long as these processes live
 *   cancel                     it is to end
 *   outcome.json               how it has ended
 * </pre>
 */
final class ReplayDirectory {
    /** Of directories that are being made; no identifier begins with a dot. */
    private static final String UNFINISHED = ".new-";

    private static final String PLAN = "plan.json";
    private static final String OUTCOME = "outcome.json";
    private static final String RATE = "rate.json";
    private static final String SESSION = "session.json";
    private static final String TIMELINE = "timeline.jsonl";
    private static final String BUDGET = "budget.json";
    private static final String JOB = "job.json";
    private static final String LIVE_STOP = "live.json";

    private static final WantedRate NO_BOUND = new WantedRate(null, false, false);

    private final Path directory;
    private final Function<ClusterAddress, ClusterRest> clusters;
    private final Handover handover;
    private final ReplayLock lock;
    private final RateTimeline timeline;
    private @Nullable ReplayStorage storage;

    /**
     * @param perSecond null for no bound
     * @param paused whether no records come now, whatever the rate
     * @param adaptive whether the live job decides from here on
     */
    record WantedRate(@Nullable Double perSecond, boolean paused, boolean adaptive) {
        /** Records per second; JSON has no infinity. */
        @JsonIgnore
        double rate() {
            return perSecond == null ? Rate.MAX : perSecond;
        }

        WantedRate paused(boolean isPaused) {
            return new WantedRate(perSecond, isPaused, adaptive);
        }
    }

    /**
     * @param share that was done then, from 0 to 1
     */
    record Session(long startedMs, double share) {}

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
            Path whole = Files.createTempDirectory(root, UNFINISHED);
            ReplayDirectory making = new ReplayDirectory(whole);
            making.handover.plan(plan);
            making.handover.settings(engine.keepingCheckpoints(storage.checkpoints().toString()));
            making.write(RATE, rate.wanted(false));
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

    /** Of a replay that was begun. */
    static ReplayDirectory find(Path root, String id) throws CommandFailure {
        Path directory = root.resolve(id);
        if (!Files.exists(directory.resolve(PLAN))) {
            throw new CommandFailure(
                    "there is no replay %s in %s; './afterbay replay status' lists them"
                            .formatted(id, root));
        }
        return new ReplayDirectory(directory);
    }

    /** Of all that were begun. */
    static List<ReplayDirectory> all(Path root) throws CommandFailure {
        try (Stream<Path> found = Files.list(root)) {
            return found.filter(path -> !path.getFileName().toString().startsWith(UNFINISHED))
                    .filter(path -> Files.exists(path.resolve(PLAN)))
                    .sorted()
                    .map(ReplayDirectory::new)
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new CommandFailure(root + ": " + CommandFailure.reason(e), e);
        }
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
        return read(PLAN, () -> handover.plan(ReplayPlan.class));
    }

    EngineSettings engine() throws CommandFailure {
        return read("settings.json", () -> handover.settings(EngineSettings.class));
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

    void removeCheckpoints() throws CommandFailure {
        storage().removeCheckpoints();
    }

    /** It begins again: what is known of how far it was is no longer so. */
    void forgetProgress() throws CommandFailure {
        try {
            control().forgetProgress();
        } catch (IOException e) {
            throw failure("control", e);
        }
    }

    /** Nothing has come of it. */
    void remove() throws CommandFailure {
        storage().remove();
        WorkDirectory.remove(directory);
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
        return readIfThere(LIVE_STOP, LiveStop.class);
    }

    void liveStop(LiveStop stop) throws CommandFailure {
        write(LIVE_STOP, stop);
    }

    /** The live job runs as it did. */
    void forgetLiveStop() throws CommandFailure {
        delete(LIVE_STOP);
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
        return readIfThere(JOB, ReplayJob.class);
    }

    /** Before it is sent: who is ended in between looks for a job that is not there. */
    void job(ReplayJob job) throws CommandFailure {
        write(JOB, job);
    }

    /** It begins again, with another one. */
    void forgetJob() throws CommandFailure {
        delete(JOB);
    }

    boolean exists() {
        return Files.exists(directory.resolve(PLAN));
    }

    Optional<ReplayProgress> progress() throws CommandFailure {
        return read("control", () -> control().progress());
    }

    /** Empty if its rows are not merged with others, or not yet. */
    Optional<MergeFigures> merged() throws CommandFailure {
        return read("control", () -> control().merged());
    }

    WantedRate rate() throws CommandFailure {
        return readIfThere(RATE, WantedRate.class).orElse(NO_BOUND);
    }

    /** Tells another rate, and notes it. */
    void rate(RateChoice rate) throws CommandFailure {
        WantedRate wanted = change(known -> rate.wanted(known.paused()));
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
        WantedRate wanted = change(known -> known.paused(isPaused));
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
        return change(
                        known ->
                                known.adaptive() && !known.paused()
                                        ? new WantedRate(rate, false, true)
                                        : known)
                .equals(new WantedRate(rate, false, true));
    }

    private double recordsPerSecond() throws CommandFailure {
        return progress().map(ReplayProgress::recordsPerSecond).orElse(0.0);
    }

    /** As one step, whoever else does it. */
    private synchronized WantedRate change(UnaryOperator<WantedRate> change) throws CommandFailure {
        try (FileChannel file =
                        FileChannel.open(
                                directory.resolve("rate.lock"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE);
                FileLock held = file.lock()) {
            WantedRate changed = change.apply(rate());
            if (!held.isValid()) {
                throw new IOException("the lock was lost");
            }
            write(changed);
            return changed;
        } catch (IOException e) {
            throw failure("rate.lock", e);
        }
    }

    private void write(WantedRate rate) throws CommandFailure {
        write(RATE, rate);
        try {
            control().setRate(rate.paused() ? 0 : rate.rate());
        } catch (IOException e) {
            throw failure("control", e);
        }
    }

    void timelineEntry(RateTimeline.Entry entry) throws CommandFailure {
        try {
            timeline.add(entry);
        } catch (IOException e) {
            throw failure(TIMELINE, e);
        }
    }

    /** The newest changes of the rate, oldest first. */
    List<RateTimeline.Entry> timeline() throws CommandFailure {
        return read(TIMELINE, timeline::entries);
    }

    /** What the live job may need; empty if it was not measured. */
    Optional<LiveBudget> budget() throws CommandFailure {
        return readIfThere(BUDGET, LiveBudget.class);
    }

    void budget(LiveBudget budget) throws CommandFailure {
        write(BUDGET, budget);
    }

    Optional<Session> session() throws CommandFailure {
        return readIfThere(SESSION, Session.class);
    }

    void session(Session session) throws CommandFailure {
        write(SESSION, session);
    }

    Optional<Ended> ended() throws CommandFailure {
        return readIfThere(OUTCOME, Ended.class);
    }

    boolean hasFinished() throws CommandFailure {
        return ended().filter(ended -> ended.state() == ReplayState.FINISHED).isPresent();
    }

    void ended(Outcome outcome) throws CommandFailure {
        if (outcome.isFinished()) {
            write(OUTCOME, new Ended(ReplayState.FINISHED, null));
        } else if (isCancelWanted()) {
            write(OUTCOME, new Ended(ReplayState.CANCELLED, null));
        } else if (outcome.problem() != null) {
            write(OUTCOME, new Ended(ReplayState.FAILED, outcome.problem()));
        }
    }

    /** It ends for good: nothing is left to start it again from. */
    void cancelled() throws CommandFailure {
        write(OUTCOME, new Ended(ReplayState.CANCELLED, null));
        removeCheckpoints();
    }

    /** Its job has finished on a cluster while nobody waited for it. */
    void finished() throws CommandFailure {
        write(OUTCOME, new Ended(ReplayState.FINISHED, null));
        removeCheckpoints();
    }

    /** Its job has failed on a cluster while nobody waited for it. */
    void failed(String problem) throws CommandFailure {
        write(OUTCOME, new Ended(ReplayState.FAILED, problem));
    }

    /** It is started again. */
    void forgetEnd() throws CommandFailure {
        delete(OUTCOME);
    }

    private void delete(String file) throws CommandFailure {
        try {
            Files.deleteIfExists(directory.resolve(file));
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    boolean isCancelWanted() {
        return Files.exists(cancelFile());
    }

    void wantCancel() throws CommandFailure {
        try {
            Files.write(cancelFile(), new byte[0]);
        } catch (IOException e) {
            throw failure("cancel", e);
        }
    }

    private Path cancelFile() {
        return directory.resolve("cancel");
    }

    /**
     * Holds it until {@link #release}, or the end of this process.
     *
     * @return false if another process does
     */
    boolean hold(Holder holder) throws CommandFailure, InterruptedException {
        try {
            return lock.hold(holder);
        } catch (IOException e) {
            throw failure("lock", e);
        }
    }

    void release() throws CommandFailure {
        try {
            lock.release();
        } catch (IOException e) {
            throw failure("lock", e);
        }
    }

    /** Whether a process of it lives. */
    boolean isHeld() throws CommandFailure {
        return read("lock", lock::isHeld);
    }

    ReplayState state() throws CommandFailure {
        if (needsLiveBack()) {
            return isHeld() ? ReplayState.RUNNING : ReplayState.INTERRUPTED;
        }
        Ended ended = ended().orElse(null);
        if (ended != null) {
            return ended.state();
        }
        if (isHeld()) {
            return alive();
        }
        ReplayJob job = job().orElse(null);
        try {
            if (job != null && !job.hasEnded(this)) {
                return alive();
            }
        } catch (ClusterException e) {
            return ReplayState.UNKNOWN;
        }
        // Its job may have finished a moment ago, and the live job is not back.
        return needsLiveBack()
                ? ReplayState.INTERRUPTED
                : ended().map(Ended::state).orElse(ReplayState.INTERRUPTED);
    }

    /**
     * The job on a cluster that does the replay now, though no process here waits for it.
     *
     * @throws CommandFailure if nobody knows
     */
    Optional<ReplayJob> jobAtWork() throws CommandFailure {
        ReplayJob job = job().orElse(null);
        try {
            return job == null || job.hasEnded(this) ? Optional.empty() : Optional.of(job);
        } catch (ClusterException e) {
            throw new CommandFailure(
                    "whether replay %s runs is not known: %s"
                            .formatted(plan().id(), CommandFailure.reason(e)),
                    e);
        }
    }

    private ReplayState alive() throws CommandFailure {
        return rate().paused() ? ReplayState.PAUSED : ReplayState.RUNNING;
    }

    private interface Reading<T> {
        T read() throws IOException, CommandFailure;
    }

    private <T> T read(String file, Reading<T> reading) throws CommandFailure {
        try {
            return reading.read();
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    private <T> Optional<T> readIfThere(String file, Class<T> type) throws CommandFailure {
        Path path = directory.resolve(file);
        return Files.exists(path)
                ? Optional.of(read(file, () -> JsonHandover.read(path, type)))
                : Optional.empty();
    }

    private void write(String file, Object content) throws CommandFailure {
        try {
            JsonHandover.write(directory.resolve(file), content);
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    private CommandFailure failure(String file, IOException cause) {
        return new CommandFailure(
                directory.resolve(file) + ": " + CommandFailure.reason(cause), cause);
    }
}
