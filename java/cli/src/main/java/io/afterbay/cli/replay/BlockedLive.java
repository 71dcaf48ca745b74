package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.remote.JobStart;
import io.afterbay.cli.replay.LiveStop.Phase;
import io.afterbay.cli.run.DetachedStart;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.flink.AfterbayStateBackend;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.jspecify.annotations.Nullable;

/**
 * The live job of a blocking replay: stopped with a savepoint before the replay's job is sent to
 * the cluster, and started from there when that has ended.
 *
 * <pre>
 *             command                       cluster
 *   STOPPING    | noted, with a trigger
 *               | -- stop, trigger ---------&gt; savepoint, live job ends
 *   STOPPED     | noted, with the savepoint
 *               | -- the replay's job ------&gt; ...
 *               | noted: the identifier of the new live job
 *               | -- the live job, from its savepoint, with that identifier
 *   BACK        | noted
 * </pre>
 *
 * <p>Whoever goes on after a command that was killed asks the cluster for the same trigger, and for
 * a job of the same identifier. What a dead command has sent may still be on its way, so a step is
 * never given up for another one: a cluster that knows the trigger, or the identifier, already does
 * nothing more. There is another identifier only if the job of the first one has ended without a
 * checkpoint of its own, so that the savepoint is still where the live job is.
 *
 * <p>Thread safe: who ends a replay may meet the program's thread here.
 */
final class BlockedLive {
    /** By what a cluster calls them. */
    private static final Map<String, Backend> BACKENDS =
            Map.of(
                    "HashMapStateBackend",
                    Backend.HASHMAP,
                    "EmbeddedRocksDBStateBackend",
                    Backend.ROCKSDB,
                    AfterbayStateBackend.NAME,
                    Backend.AFTERBAY);

    private static final String FINISHED = "FINISHED";

    /** With a job that restarts, or waits for slots. */
    private static final Waiting USUAL = new Waiting(100, Duration.ofMinutes(5));

    private final ReplayDirectory directory;
    private final ReplayPlan plan;
    private final ClusterAddress cluster;
    private final ClusterRest rest;
    private final ClusterJob live;
    private final Starter starter;
    private final Waiting waiting;

    /** Starts the program of the live job. */
    interface Starter {
        /**
         * Returns when it runs, or was sent at least.
         *
         * @param known with the savepoint and the identifier that it is to have
         * @throws CommandFailure also if the cluster has, or had, a job of that identifier
         */
        void start(LiveStop known) throws CommandFailure, InterruptedException;
    }

    /** What the live job is stopped for. */
    interface Replaying {
        /**
         * Returns when it has ended.
         *
         * @return the exit code
         */
        int run() throws Exception;
    }

    /** In a worker only: the program of the job is run. */
    BlockedLive(ReplayDirectory directory, ReplayPlan plan, EngineSettings engine) {
        this(directory, plan, program(plan, engine), USUAL);
    }

    BlockedLive(ReplayDirectory directory, ReplayPlan plan, Starter starter, Waiting waiting) {
        this.waiting = waiting;
        this.directory = directory;
        this.plan = plan;
        this.cluster = Objects.requireNonNull(plan.on());
        this.rest = directory.rest(cluster);
        this.live = new ClusterJob(rest, Objects.requireNonNull(plan.live()).jobId());
        this.starter = starter;
    }

    private static Starter program(ReplayPlan plan, EngineSettings engine) {
        return known -> {
            Long intervalMs = known.checkpointIntervalMs();
            new DetachedStart(
                            Objects.requireNonNull(plan.on()),
                            engine.of(
                                    known.backend() == null
                                            ? engine.backendName()
                                            : known.backend(),
                                    known.parallelism()),
                            intervalMs == null ? null : Duration.ofMillis(intervalMs))
                    .start(
                            plan.run().job(),
                            Objects.requireNonNull(known.savepoint()),
                            JobID.fromHexString(Objects.requireNonNull(known.newJobId())));
        };
    }

    /**
     * Replays, unless that is done or was cancelled, and brings the live job back if nothing else
     * is left to do.
     *
     * @return the exit code
     */
    int around(Replaying replaying) throws Exception {
        int code = ExitCode.OK;
        try {
            if (!directory.needsLiveBack()) {
                code = replaying.run();
            }
        } catch (CommandFailure e) {
            if (!directory.needsLiveBack()) {
                throw e;
            }
            // The live job is not to wait for a report that cannot be written.
            System.err.println(plan.run().command() + ": " + CommandFailure.reason(e));
            code = ExitCode.FAILURE;
        }
        if (directory.needsLiveBack()) {
            bringBack();
        }
        return code;
    }

    /**
     * Returns when it is stopped; does nothing if it was already.
     *
     * @throws CommandFailure if it is not, or nobody knows, or it has failed; nothing is left of it
     *     in the directory if the live job runs on, or has ended elsewhere than at the savepoint
     */
    synchronized void stop() throws CommandFailure, InterruptedException {
        try {
            LiveStop known = directory.liveStop().orElse(null);
            if (known == null) {
                known = begin();
            }
            if (known.phase() == Phase.BACK) {
                throw new CommandFailure("the live job was started again meanwhile");
            }
            if (known.phase() == Phase.STOPPING) {
                directory.liveStop(
                        known.stopped(new LiveSavepoint(directory, live, waiting).await(known)));
            }
        } catch (ClusterException e) {
            throw new CommandFailure(
                    "whether the live job is stopped is not known: " + CommandFailure.reason(e), e);
        }
    }

    private LiveStop begin() throws ClusterException, InterruptedException, CommandFailure {
        String path = "/jobs/" + live.id();
        JsonNode config = rest.get(path + "/config").path("execution-config");
        JsonNode checkpoints = rest.find(path + "/checkpoints/config").orElse(rest.newObject());
        long intervalMs = checkpoints.path("interval").asLong(0);
        LiveStop begun =
                new LiveStop(
                        Phase.STOPPING,
                        new JobID().toHexString(),
                        null,
                        parallelism(config.path("job-parallelism").asInt(0)),
                        intervalMs <= 0 || intervalMs == Long.MAX_VALUE ? null : intervalMs,
                        backend(checkpoints.path("state_backend").asText()),
                        checkpoints(),
                        null);
        directory.liveStop(begun);
        return begun;
    }

    /** Where its checkpoints are, in a directory of its own. Null if nothing says it. */
    private @Nullable String checkpoints() throws ClusterException, InterruptedException {
        String newest = live.newestCheckpoint().orElse("");
        int own = newest.indexOf("/" + live.id() + "/");
        return own >= 0
                ? newest.substring(0, own)
                : rest.option(CheckpointingOptions.CHECKPOINTS_DIRECTORY.key()).orElse(null);
    }

    /** A job may leave it to its operators. */
    private int parallelism(int ofJob) throws ClusterException, InterruptedException {
        if (ofJob > 0) {
            return ofJob;
        }
        JsonNode vertices = rest.get("/jobs/" + live.id()).path("vertices");
        return StreamSupport.stream(vertices.spliterator(), false)
                .mapToInt(vertex -> vertex.path("parallelism").asInt(1))
                .max()
                .orElse(1);
    }

    /**
     * @param shown by the cluster, which may leave it open
     */
    static @Nullable String backend(String shown) throws CommandFailure {
        Backend backend = BACKENDS.get(shown);
        if (backend != null) {
            return backend.name();
        }
        if (shown.isEmpty() || shown.equals("null")) {
            return null;
        }
        throw new CommandFailure(
                "the live job has the state backend %s, with which nothing here could start it again; it was not stopped. Use --mode beside, or --own-output"
                        .formatted(shown));
    }

    /**
     * Starts it where it was stopped; does nothing if it runs already.
     *
     * @throws CommandFailure if it does not run now
     */
    synchronized void bringBack() throws CommandFailure, InterruptedException {
        if (!directory.isLiveStopped() || !isStopped()) {
            return;
        }
        LiveStop known = directory.liveStop().orElseThrow();
        try {
            awaitReplayEnd(known);
            String id = known.newJobId();
            if (id == null || isSpent(known, id)) {
                known = known.startingAs(new JobID().toHexString());
                directory.liveStop(known);
            }
            start(known, new ClusterJob(rest, Objects.requireNonNull(known.newJobId())));
        } catch (ClusterException e) {
            throw failure(known, e);
        }
        directory.liveStop(known.back());
        System.err.printf(
                "the live job is back at %s, as job %s at %s%n",
                known.savepoint(), known.newJobId(), cluster);
    }

    /** Whoever noted its end may have waited for it in vain, or not have heard of its job. */
    private void awaitReplayEnd(LiveStop known)
            throws ClusterException, InterruptedException, CommandFailure {
        ReplayJob replay = directory.job().orElse(null);
        if (replay != null && !replay.end(directory, waiting)) {
            throw failure(
                    known,
                    new CommandFailure(
                            "the replay's job %s at %s still runs, and the live job is not started beside it"
                                    .formatted(replay.id(), replay.cluster())));
        }
    }

    /** A stop that was begun is ended first: nobody knows whether the cluster has heard of it. */
    private boolean isStopped() throws CommandFailure, InterruptedException {
        try {
            stop();
            return true;
        } catch (CommandFailure e) {
            LiveStop known = directory.liveStop().orElse(null);
            if (known != null && known.phase() == Phase.STOPPING) {
                throw e;
            }
            System.err.println(CommandFailure.reason(e));
            return known != null && known.phase() == Phase.STOPPED;
        }
    }

    /**
     * Whether the job of that identifier has come to nothing, so that another one may have its
     * savepoint.
     *
     * @throws CommandFailure if it has ended, and was further than its savepoint
     */
    private boolean isSpent(LiveStop known, String id)
            throws ClusterException, InterruptedException, CommandFailure {
        ClusterJob job = new ClusterJob(rest, id);
        String state = job.state().orElse(null);
        if (state != null && !isLost(state)) {
            return false;
        }
        String newest = state == null ? checkpointThere(known, id) : newest(job);
        if (newest == null) {
            return state != null;
        }
        directory.liveStop(known.back());
        throw new CommandFailure(
                "the live job was back as job %s at %s, has made checkpoints since then, and is %s: start it from the newest of them, %s"
                        .formatted(
                                id,
                                cluster,
                                state == null ? "not known there any more" : state + " now",
                                newest));
    }

    private static @Nullable String newest(ClusterJob job)
            throws ClusterException, InterruptedException {
        String checkpoint = job.newestCheckpoint().orElse(null);
        return checkpoint == null ? job.newestSavepoint().orElse(null) : checkpoint;
    }

    /** Of a job that its cluster has forgotten, or has never heard of. */
    private static @Nullable String checkpointThere(LiveStop known, String id)
            throws CommandFailure {
        String all = known.checkpoints();
        return all == null
                ? null
                : RestorePoint.newest(all + "/" + id)
                        .map(point -> point.path().toString())
                        .orElse(null);
    }

    private void start(LiveStop known, ClusterJob job)
            throws CommandFailure, InterruptedException, ClusterException {
        if (job.state().isEmpty()) {
            try {
                starter.start(known);
            } catch (CommandFailure e) {
                // One that was on its way before may have come first.
                if (job.state().filter(state -> !isLost(state)).isEmpty()) {
                    throw failure(known, e);
                }
            }
        }
        try {
            JobStart.await(job, waiting.patience(), state -> hasDoneAll(job, state));
        } catch (CommandFailure e) {
            throw failure(known, e);
        }
    }

    private boolean hasDoneAll(ClusterJob job, String state)
            throws CommandFailure, InterruptedException {
        if (isLost(state)) {
            throw new CommandFailure(
                    "job %s is %s, see http://%s".formatted(job.id(), state, cluster));
        }
        Thread.sleep(waiting.tickMs());
        return state.equals(FINISHED);
    }

    private static boolean isLost(String state) {
        return ClusterJob.isEnded(state) && !state.equals(FINISHED);
    }

    private CommandFailure failure(LiveStop known, Exception cause) {
        return new CommandFailure(
                "the live job does not run again: %s; it is at savepoint %s; try again: ./afterbay replay resume %s%s"
                        .formatted(
                                CommandFailure.reason(cause),
                                known.savepoint(),
                                plan.id(),
                                ReplayPlace.option(directory.root())),
                cause);
    }
}
