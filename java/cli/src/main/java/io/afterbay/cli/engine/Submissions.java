package io.afterbay.cli.engine;

import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.dag.Pipeline;
import org.apache.flink.client.ClientUtils;
import org.apache.flink.client.deployment.ClusterClientJobClientAdapter;
import org.apache.flink.client.deployment.executors.PipelineExecutorUtils;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.client.program.ClusterClientProvider;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.PipelineExecutor;
import org.apache.flink.core.execution.PipelineExecutorFactory;
import org.apache.flink.core.execution.PipelineExecutorServiceLoader;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/**
 * The way of every job of a run to its cluster, whoever builds it: our own classes, a user's main
 * method or SQL. Execution environments that are given this object submit here, so that the run
 * knows its jobs, may refuse one, and can wait for and cancel all of them. Thread safe.
 *
 * @param <C> how the cluster's client names the cluster
 */
public final class Submissions<C>
        implements PipelineExecutorServiceLoader, PipelineExecutorFactory, PipelineExecutor {
    private static final String NAME = "afterbay";

    /** How long the result of a job that has failed may take. */
    private static final int RESULT_SECONDS_MAX = 30;

    /** Looks at a job before it is submitted. */
    public interface Gate {
        /**
         * @throws CommandFailure to refuse the job
         */
        void check(StreamGraph job) throws CommandFailure;
    }

    /** A job that was submitted; the future completes when it has ended in any way. */
    public record Submitted(JobID id, String name, CompletableFuture<JobResult> result) {
        public boolean hasEnded() {
            return result.isDone() && !result.isCompletedExceptionally();
        }
    }

    private final ClusterClientProvider<C> cluster;
    private final List<Submitted> jobs = new CopyOnWriteArrayList<>();
    private volatile Gate rewriter = job -> {};
    private volatile Gate gate = job -> {};
    private volatile Gate lastGate = job -> {};
    private volatile Runnable endListener = () -> {};
    private volatile boolean closed;
    private @Nullable ClusterClient<C> ownClient;

    public Submissions(ClusterClientProvider<C> cluster) {
        this.cluster = cluster;
    }

    /** From now on, each job is changed by this before anybody looks at it. */
    public void rewriteBy(Gate newRewriter) {
        rewriter = newRewriter;
    }

    /** From now on, this comes when nobody else can refuse a job any more. */
    public void beforeSubmission(Gate newLastGate) {
        lastGate = newLastGate;
    }

    /** From now on, asks the gate before each submission and tells the listener of each end. */
    public void observe(Gate newGate, Runnable newEndListener) {
        gate = newGate;
        endListener = newEndListener;
    }

    /** The one that stays open; what is handed out may be closed by its users. */
    private synchronized ClusterClient<C> client() {
        ClusterClient<C> known = ownClient;
        if (known == null) {
            known = cluster.getClusterClient();
            ownClient = known;
        }
        return known;
    }

    /** In the order of their submission. */
    public List<Submitted> jobs() {
        return List.copyOf(jobs);
    }

    /** Refuses further jobs and cancels those that run; returns when the cluster was told. */
    public void cancel() {
        closed = true;
        cancelRunning();
    }

    /** Cancels the jobs that run; returns when the cluster was told. */
    public void cancelRunning() {
        for (Submitted job : jobs) {
            if (!job.result().isDone()) {
                var unused = client().cancel(job.id());
            }
        }
    }

    /**
     * Waits for the results of the jobs that have failed. User code that waits for a job may hear
     * of its failure before we do.
     */
    public void awaitFailures() {
        for (Submitted job : jobs) {
            try {
                resultIfFailed(job).get(RESULT_SECONDS_MAX, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (ExecutionException | TimeoutException e) {
                // Without its result, what the code threw is what is known of the failure.
            }
        }
    }

    private CompletableFuture<Void> resultIfFailed(Submitted job) {
        CompletableFuture<Void> nothing = CompletableFuture.allOf();
        if (job.result().isDone()) {
            return nothing;
        }
        return client().getJobStatus(job.id())
                .thenCompose(
                        status ->
                                status == JobStatus.FAILED
                                        ? CompletableFuture.allOf(job.result())
                                        : nothing);
    }

    /** Completes when all jobs that were submitted so far have ended in any way. */
    public CompletableFuture<Void> ended() {
        return CompletableFuture.allOf(
                jobs.stream().map(Submitted::result).toArray(CompletableFuture[]::new));
    }

    @Override
    public CompletableFuture<JobClient> execute(
            Pipeline pipeline, Configuration configuration, ClassLoader userCode) throws Exception {
        StreamGraph graph = PipelineExecutorUtils.getStreamGraph(pipeline, configuration);
        rewriter.check(graph);
        gate.check(graph);
        if (closed) {
            throw new CommandFailure(
                    "job '" + graph.getName() + "' was not started: the run has been ended");
        }
        lastGate.check(graph);
        graph.serializeUserDefinedInstances();
        ClusterClient<C> client = client();
        return client.submitJob(graph)
                .thenApplyAsync(id -> submitted(client, id, graph.getName(), userCode));
    }

    private JobClient submitted(
            ClusterClient<C> client, JobID id, String name, ClassLoader userCode) {
        jobs.add(new Submitted(id, name, resultOf(client, id)));
        try {
            ClientUtils.waitUntilJobInitializationFinished(
                    () -> client.getJobStatus(id).get(),
                    () -> client.requestJobResult(id).get(),
                    userCode);
        } catch (Exception e) {
            throw new CompletionException(e);
        }
        return new ClusterClientJobClientAdapter<>(cluster, id, userCode);
    }

    private CompletableFuture<JobResult> resultOf(ClusterClient<C> client, JobID id) {
        return client.requestJobResult(id).whenComplete((result, failure) -> endListener.run());
    }

    @Override
    public PipelineExecutorFactory getExecutorFactory(Configuration configuration) {
        return this;
    }

    @Override
    public Stream<String> getExecutorNames() {
        return Stream.of(NAME);
    }

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public boolean isCompatibleWith(Configuration configuration) {
        return true;
    }

    @Override
    public PipelineExecutor getExecutor(Configuration configuration) {
        return this;
    }
}
