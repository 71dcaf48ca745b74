package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterJob.Savepoint;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.replay.LiveStop.Phase;
import io.afterbay.cli.run.DetachedStart;
import io.afterbay.command.CommandFailure;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.api.common.JobID;
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
 * <p>Whoever goes on after a command that was killed asks the cluster for the trigger, or for the
 * identifier: nothing is done twice.
 */
final class BlockedLive {
    private static final Map<String, String> BACKENDS =
            Map.of(
                    "HashMapStateBackend", "hashmap",
                    "EmbeddedRocksDBStateBackend", "rocksdb",
                    "AfterbayStateBackend", "afterbay");

    private static final long TICK_MS = 100;

    private final ReplayDirectory directory;
    private final ReplayPlan plan;
    private final ClusterAddress cluster;
    private final ClusterRest rest;
    private final ClusterJob live;

    BlockedLive(ReplayDirectory directory, ReplayPlan plan) {
        this.directory = directory;
        this.plan = plan;
        this.cluster = Objects.requireNonNull(plan.on());
        this.rest = new ClusterRest(cluster);
        this.live = new ClusterJob(rest, Objects.requireNonNull(plan.live()).jobId());
    }

    /** Returns when it is stopped; does nothing if it was already. */
    void stop() throws CommandFailure, InterruptedException {
        try {
            LiveStop known = directory.liveStop().orElse(null);
            if (known == null) {
                known = begin();
            }
            if (known.phase() == Phase.STOPPING) {
                String savepoint = savepoint(known.trigger());
                awaitEnd();
                directory.liveStop(known.stopped(savepoint));
            }
        } catch (ClusterException e) {
            throw new CommandFailure("the live job may be stopped: " + CommandFailure.reason(e), e);
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
                        config.path("job-parallelism").asInt(1),
                        intervalMs <= 0 || intervalMs == Long.MAX_VALUE ? null : intervalMs,
                        BACKENDS.get(checkpoints.path("state_backend").asText()),
                        null);
        directory.liveStop(begun);
        return begun;
    }

    private String savepoint(String trigger)
            throws ClusterException, InterruptedException, CommandFailure {
        if (live.savepoint(trigger).isEmpty()) {
            String state = live.state().orElse("unknown");
            if (!state.equals("RUNNING")) {
                return ofEnded(state);
            }
            live.stop(directory.savepointsUri(), trigger);
        }
        while (true) {
            Savepoint made = live.savepoint(trigger).orElse(null);
            if (made == null) {
                return ofEnded(live.state().orElse("unknown"));
            }
            if (made.location() != null) {
                return made.location();
            }
            if (made.problem() != null) {
                directory.forgetLiveStop();
                throw new CommandFailure(
                        "the live job could not be stopped with a savepoint, and runs on: "
                                + made.problem());
            }
            Thread.sleep(TICK_MS);
        }
    }

    /** The cluster has forgotten the trigger, but may know what the job has left. */
    private String ofEnded(String state)
            throws ClusterException, InterruptedException, CommandFailure {
        return live.newestSavepoint()
                .orElseThrow(
                        () ->
                                new CommandFailure(
                                        "the live job %s is %s, and the cluster knows no savepoint of it; look in %s, and start it from there: flink run -s SAVEPOINT ..."
                                                .formatted(live.id(), state, directory.path())));
    }

    private void awaitEnd() throws ClusterException, InterruptedException {
        while (!live.state().map(ClusterJob::isEnded).orElse(true)) {
            Thread.sleep(TICK_MS);
        }
    }

    /**
     * Starts it where it was stopped; does nothing if it runs already. In a worker only: the
     * program of the job is run.
     */
    void bringBack(EngineSettings engine) throws CommandFailure, InterruptedException {
        LiveStop known = directory.liveStop().orElseThrow();
        if (known.phase() == Phase.STOPPING) {
            if (isUntouched(known)) {
                directory.forgetLiveStop();
                return;
            }
            stop();
            known = directory.liveStop().orElseThrow();
        }
        String id = known.newJobId();
        if (id == null || !isThere(id)) {
            id = new JobID().toHexString();
            known = known.startingAs(id);
            directory.liveStop(known);
            start(known, id, engine);
        }
        directory.liveStop(known.back());
        System.err.printf(
                "the live job is back at %s, as job %s at %s%n", known.savepoint(), id, cluster);
    }

    private boolean isUntouched(LiveStop known) throws CommandFailure, InterruptedException {
        try {
            return live.state().filter(state -> state.equals("RUNNING")).isPresent()
                    && live.savepoint(known.trigger()).isEmpty();
        } catch (ClusterException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
    }

    private boolean isThere(String id) throws CommandFailure, InterruptedException {
        try {
            return new ClusterJob(rest, id)
                    .state()
                    .filter(state -> !state.equals("FAILED") && !state.equals("CANCELED"))
                    .isPresent();
        } catch (ClusterException e) {
            throw new CommandFailure(
                    "whether the live job is back is not known: " + CommandFailure.reason(e), e);
        }
    }

    private void start(LiveStop known, String id, EngineSettings engine)
            throws CommandFailure, InterruptedException {
        String savepoint = Objects.requireNonNull(known.savepoint());
        try {
            new DetachedStart(cluster, settings(known, engine), interval(known))
                    .start(plan.run().job(), savepoint, JobID.fromHexString(id));
        } catch (CommandFailure e) {
            throw new CommandFailure(
                    "the live job does not run again: %s; it is at savepoint %s; try again: ./afterbay replay resume %s%s"
                            .formatted(
                                    CommandFailure.reason(e),
                                    savepoint,
                                    plan.id(),
                                    ReplayPlace.option(directory.root())),
                    e);
        }
    }

    private static EngineSettings settings(LiveStop known, EngineSettings engine) {
        return engine.of(
                known.backend() == null ? engine.backendName() : known.backend(),
                known.parallelism());
    }

    private static @Nullable Duration interval(LiveStop known) {
        Long intervalMs = known.checkpointIntervalMs();
        return intervalMs == null ? null : Duration.ofMillis(intervalMs);
    }
}
