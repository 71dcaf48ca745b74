package io.afterbay.cli.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Where the jobs of a run are: Flink in this process, or a cluster. */
public interface Engine {
    /** In an open loop, records must not wait for a full buffer. */
    Duration OPEN_LOOP_BUFFER_TIMEOUT = Duration.ofMillis(5);

    /** The way in for jobs. */
    Submissions<?> submissions();

    /**
     * What a job gets as configuration unless it sets something else itself.
     *
     * @param openLoop whether events come by a schedule rather than as fast as possible
     */
    Configuration jobSettings(boolean openLoop);

    /** That of jobs which choose none themselves. */
    Backend backend();

    /** Tasks of one stage that can run at a time. */
    int slots();

    /** Whether jobs run in other processes, whose files and memory are not ours. */
    boolean isRemote();

    /** Jars that every job needs beside its own, because of who runs it. */
    default List<Path> libraries() {
        return List.of();
    }

    /** Starts one job; the future completes when it has ended, with the cause if it failed. */
    default CompletableFuture<Void> start(
            Consumer<StreamExecutionEnvironment> build, boolean openLoop) throws Exception {
        StreamExecutionEnvironment environment =
                new StreamExecutionEnvironment(
                        submissions(), jobSettings(openLoop), Engine.class.getClassLoader());
        build.accept(environment);
        return environment.executeAsync().getJobExecutionResult().thenApply(ignored -> null);
    }
}
