package io.afterbay.cli.job;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.Submissions;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.messages.Acknowledge;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A cluster whose one job fails, and which tells the code that waits for it before it tells us. */
class ProgramTest {
    private final CompletableFuture<JobResult> ours = new CompletableFuture<>();
    private volatile boolean isFollowed;
    private volatile boolean codeHasHeard;

    @Test
    void aJobsFailureIsTheJobsHoweverSoonItsCodeHears() {
        CompletableFuture<Void> ended = new NumbersProgram().start(new FailingEngine());
        assertThatThrownBy(() -> ended.get(4, TimeUnit.MINUTES))
                .hasRootCauseMessage("/ by zero")
                .cause()
                .hasMessageStartingWith("job 'numbers' failed: ArithmeticException: / by zero");
    }

    private ClusterClient<?> client() {
        return (ClusterClient<?>)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {ClusterClient.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "submitJob" ->
                                            CompletableFuture.completedFuture(new JobID());
                                    case "getJobStatus" -> status();
                                    case "requestJobResult" -> result((JobID) arguments[0]);
                                    case "cancel" ->
                                            CompletableFuture.completedFuture(Acknowledge.get());
                                    case "close" -> null;
                                    default ->
                                            throw new UnsupportedOperationException(
                                                    method.toString());
                                });
    }

    private CompletableFuture<JobStatus> status() {
        if (!codeHasHeard) {
            return CompletableFuture.completedFuture(JobStatus.RUNNING);
        }
        CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS)
                .execute(() -> ours.complete(failed(new JobID())));
        return CompletableFuture.completedFuture(JobStatus.FAILED);
    }

    /** The first one who asks is {@link Submissions}. */
    private CompletableFuture<JobResult> result(JobID id) {
        if (!isFollowed) {
            isFollowed = true;
            return ours;
        }
        return CompletableFuture.completedFuture(failed(id));
    }

    private static JobResult failed(JobID id) {
        return new JobResult.Builder()
                .jobId(id)
                .jobName("numbers")
                .jobStatus(JobStatus.FAILED)
                .netRuntime(1)
                .serializedThrowable(new SerializedThrowable(new ArithmeticException("/ by zero")))
                .build();
    }

    private final class FailingEngine implements Engine {
        @SuppressWarnings({"rawtypes", "unchecked"}) // of a cluster without a type of id
        private final Submissions<?> submissions = new Submissions(() -> client());

        @Override
        public Submissions<?> submissions() {
            return submissions;
        }

        @Override
        public Configuration jobSettings(boolean openLoop) {
            return new Configuration()
                    .set(DeploymentOptions.TARGET, "afterbay")
                    .set(DeploymentOptions.ATTACHED, true);
        }

        @Override
        public Backend backend() {
            return Backend.AFTERBAY;
        }

        @Override
        public int slots() {
            return 128;
        }

        @Override
        public boolean isRemote() {
            return false;
        }
    }

    private final class NumbersProgram extends Program {
        NumbersProgram() {
            super(Path.of("numbers.jar"), new ProgramArguments().rules());
        }

        @Override
        void submitJobs(Engine engine) throws Exception {
            StreamExecutionEnvironment environment =
                    new StreamExecutionEnvironment(
                            engine.submissions(), engine.jobSettings(false), classLoader());
            environment.fromSequence(0, 9).sinkTo(new DiscardingSink<>());
            try {
                environment.execute("numbers");
            } finally {
                codeHasHeard = true;
            }
        }

        @Override
        String code() {
            return "main of Numbers";
        }

        @Override
        public void printResult(SummaryText text) {}

        @Override
        public @Nullable String output() {
            return null;
        }

        @Override
        public Job writingTo(String file) {
            throw new UnsupportedOperationException("it writes nothing");
        }

        @Override
        ClassLoader classLoader() {
            return ProgramTest.class.getClassLoader();
        }
    }
}
