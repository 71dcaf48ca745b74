package io.afterbay.cli.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.messages.Acknowledge;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.junit.jupiter.api.Test;

/** A run that is ended while a job is on its way to a cluster that takes its time. */
class SubmissionsTest {
    private final JobID id = new JobID();
    private final CompletableFuture<JobID> answer = new CompletableFuture<>();
    private final ConcurrentHashMap<JobID, CompletableFuture<JobResult>> results =
            new ConcurrentHashMap<>();
    private final List<JobID> cancelled = new CopyOnWriteArrayList<>();

    @SuppressWarnings({"rawtypes", "unchecked"}) // of a cluster without a type of id
    private final Submissions<?> submissions = new Submissions(() -> client());

    private ClusterClient<?> client() {
        return (ClusterClient<?>)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {ClusterClient.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "submitJob" -> answer;
                                    case "getJobStatus" ->
                                            CompletableFuture.completedFuture(JobStatus.RUNNING);
                                    case "requestJobResult" -> result((JobID) arguments[0]);
                                    case "cancel" -> cancel((JobID) arguments[0]);
                                    case "close" -> null;
                                    default ->
                                            throw new UnsupportedOperationException(
                                                    method.toString());
                                });
    }

    private CompletableFuture<JobResult> result(JobID job) {
        return results.computeIfAbsent(job, unseen -> new CompletableFuture<>());
    }

    private CompletableFuture<Acknowledge> cancel(JobID job) {
        cancelled.add(job);
        result(job)
                .complete(
                        new JobResult.Builder()
                                .jobId(job)
                                .jobStatus(JobStatus.CANCELED)
                                .netRuntime(1)
                                .build());
        return CompletableFuture.completedFuture(Acknowledge.get());
    }

    private static StreamGraph job() {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
        environment.fromSequence(0, 9).sinkTo(new DiscardingSink<>());
        return environment.getStreamGraph();
    }

    private CompletableFuture<JobClient> submit() throws Exception {
        return submissions.execute(job(), new Configuration(), getClass().getClassLoader());
    }

    @Test
    void aJobThatArrivesAfterTheEndIsCancelledAndWaitedFor() throws Exception {
        submit();
        submissions.cancel();
        CompletableFuture<Void> ended = submissions.ended();
        assertThat(ended).isNotDone();
        assertThat(submissions.close()).isFalse();
        assertThat(cancelled).isEmpty();
        answer.complete(id);
        Await.until("its end", ended::isDone);
        assertThat(ended).isCompleted();
        assertThat(cancelled).containsExactly(id);
        assertThat(submissions.jobs()).extracting(Submissions.Submitted::id).containsExactly(id);
    }

    @Test
    void oneThatIsRefusedIsNotWaitedForAndIsNone() throws Exception {
        CompletableFuture<JobClient> refused = submit();
        submissions.cancel();
        answer.completeExceptionally(new IllegalStateException("no slots"));
        assertThatThrownBy(refused::get).hasRootCauseMessage("no slots");
        assertThat(submissions.ended()).isCompleted();
        assertThat(submissions.close()).isTrue();
        assertThat(cancelled).isEmpty();
    }

    /** The last gate stops a live job, for example, which takes its time. */
    @Test
    void oneThatIsAtTheLastGateIsNotSentAndCountsAsBegunUntilItIsRefused() throws Exception {
        CountDownLatch atGate = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        submissions.beforeSubmission(
                job -> {
                    atGate.countDown();
                    try {
                        open.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
        CompletableFuture<Throwable> refusal = new CompletableFuture<>();
        Thread program =
                new Thread(
                        () -> {
                            try {
                                submit();
                                refusal.complete(new AssertionError("it was sent"));
                            } catch (Exception e) {
                                refusal.complete(e);
                            }
                        });
        program.start();
        atGate.await();
        assertThat(submissions.close()).isFalse();
        assertThat(submissions.ended()).isCompleted();
        open.countDown();
        assertThat(refusal.get()).hasMessageContaining("was not started: the run has been ended");
        assertThat(submissions.close()).isTrue();
        assertThatThrownBy(this::submit).hasMessageContaining("the run has been ended");
        assertThat(answer).isNotDone();
    }
}
