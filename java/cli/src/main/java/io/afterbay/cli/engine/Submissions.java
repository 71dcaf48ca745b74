package io.afterbay.cli.engine;

import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
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

    /** Jobs that nobody but the last gate can refuse any more, or that are sent. */
    private int passing;

    /** Each completes when the cluster has taken its job, or refused it. */
    private final Set<CompletableFuture<JobID>> sent = ConcurrentHashMap.newKeySet();

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

    /**
     * Refuses further jobs and cancels those that run; returns when the cluster was told. A job
     * that is on its way is cancelled when it has arrived.
     */
    public void cancel() {
        close();
        cancelRunning();
    }

    /**
     * Refuses further jobs.
     *
     * @return whether none was submitted, and none is about to be
     */
    public synchronized boolean close() {
        closed = true;
        return passing == 0 && jobs.isEmpty();
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

    /**
     * Completes when all jobs that were submitted so far have ended in any way, also those that are
     * on their way.
     */
    public CompletableFuture<Void> ended() {
        return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new))
                .exceptionally(refused -> null)
                .thenCompose(
                        nothing ->
                                CompletableFuture.allOf(
                                        jobs.stream()
                                                .map(Submitted::result)
                                                .toArray(CompletableFuture[]::new)));
    }

    @Override
    public CompletableFuture<JobClient> execute(
            Pipeline pipeline, Configuration configuration, ClassLoader userCode) throws Exception {
        StreamGraph graph = PipelineExecutorUtils.getStreamGraph(pipeline, configuration);
        rewriter.check(graph);
        gate.check(graph);
        pass(graph);
        try {
            lastGate.check(graph);
        } catch (Throwable e) {
            passed();
            throw e;
        }
        return send(graph).thenApplyAsync(id -> initialized(id, userCode));
    }

    private synchronized void pass(StreamGraph job) throws CommandFailure {
        requireOpen(job);
        passing++;
    }

    private synchronized void passed() {
        passing--;
    }

    private void requireOpen(StreamGraph job) throws CommandFailure {
        if (closed) {
            throw new CommandFailure(
                    "job '" + job.getName() + "' was not started: the run has been ended");
        }
    }

    /** Whoever ends the run meanwhile either keeps the job from being sent, or waits for it. */
    private CompletableFuture<JobID> send(StreamGraph graph) throws Exception {
        CompletableFuture<JobID> taken = new CompletableFuture<>();
        try {
            synchronized (this) {
                requireOpen(graph); // the last gate may take its time
                sent.add(taken);
            }
            graph.serializeUserDefinedInstances();
            client().submitJob(graph)
                    .thenApply(id -> submitted(id, graph.getName()))
                    .whenComplete((id, refusal) -> arrived(taken, id, refusal));
        } catch (Throwable e) {
            arrived(taken, null, e);
            throw e;
        }
        return taken;
    }

    private void arrived(
            CompletableFuture<JobID> taken, @Nullable JobID id, @Nullable Throwable refusal) {
        sent.remove(taken);
        passed();
        if (refusal == null) {
            taken.complete(id);
        } else {
            taken.completeExceptionally(refusal);
        }
    }

    private JobID submitted(JobID id, String name) {
        ClusterClient<C> client = client();
        jobs.add(new Submitted(id, name, resultOf(client, id)));
        if (closed) {
            var unused = client.cancel(id);
        }
        return id;
    }

    private JobClient initialized(JobID id, ClassLoader userCode) {
        ClusterClient<C> client = client();
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
