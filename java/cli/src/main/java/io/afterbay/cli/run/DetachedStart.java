package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.RemoteEngine;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.engine.Submissions;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.remote.JobStart;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.jspecify.annotations.Nullable;

/**
 * Starts a job on a cluster, and leaves it there when it runs. Main methods may wait for its end.
 */
public final class DetachedStart {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final long TICK_MS = 200;

    private final ClusterAddress cluster;
    private final EngineSettings settings;
    private final @Nullable Duration interval;

    /**
     * @param settings of the job
     * @param interval between checkpoints; null for what the job and the cluster say
     */
    public DetachedStart(
            ClusterAddress cluster, EngineSettings settings, @Nullable Duration interval) {
        this.cluster = cluster;
        this.settings = settings;
        this.interval = interval;
    }

    /**
     * Returns when it runs. The process must not go on for long then: it may still have a thread of
     * the job's program.
     *
     * @param savepoint to go on from
     * @param id that the job is to have
     * @throws CommandFailure if it does not
     */
    public void start(JobPlan job, String savepoint, JobID id)
            throws CommandFailure, InterruptedException {
        try {
            RemoteEngine engine =
                    new RemoteEngine(
                            cluster,
                            settings,
                            interval,
                            JobLibraries.jars(WorkDirectory.ofWorker().orElseThrow()));
            engine.from(RestorePoint.find(savepoint));
            engine.submissions().rewriteBy(graph -> graph.setJobId(id));
            CompletableFuture<Void> ended = job.job().start(engine);
            JobStart.await(
                    new ClusterJob(new ClusterRest(cluster), id.toHexString()),
                    PATIENCE,
                    state -> hasEnded(ended, engine.submissions()));
        } catch (IOException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        } catch (CommandFailure | InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new CommandFailure(RemoteFailures.explain(e, cluster, settings.backend()), e);
        }
    }

    /**
     * @return whether the program has ended, which has done all that it had to do then
     */
    private boolean hasEnded(CompletableFuture<Void> ended, Submissions<?> submissions)
            throws InterruptedException, CommandFailure {
        try {
            ended.get(TICK_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new CommandFailure(RemoteFailures.explain(e, cluster, settings.backend()), e);
        }
        if (submissions.jobs().isEmpty()) {
            throw new CommandFailure("the program has ended and has started no job");
        }
        return true;
    }
}
