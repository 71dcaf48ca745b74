package io.afterbay.cli.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.jspecify.annotations.Nullable;

/**
 * How an engine is, once everything is decided: what one process tells the other that has it.
 *
 * @param backendName see {@link Backend#named}
 * @param memory how that of its process is divided
 * @param checkpointIntervalMs 0 for no checkpoints
 * @param restartsMax how often a failed job is started again from its last checkpoint
 * @param checkpointDirectory where checkpoints outlive the run; null for its working directory
 * @param properties options of Flink, by key
 */
public record EngineSettings(
        String backendName,
        int parallelism,
        MemorySplit memory,
        long checkpointIntervalMs,
        int restartsMax,
        @Nullable String checkpointDirectory,
        Map<String, String> properties,
        boolean verbose) {
    static final int RESTARTS_MAX = 3;

    /** A storage that is away for a while costs checkpoints, and not the job. */
    private static final int FAILED_CHECKPOINTS_IN_A_ROW_MAX = 1000;

    public Backend backend() {
        return Backend.named(backendName);
    }

    public Duration checkpointInterval() {
        return Duration.ofMillis(checkpointIntervalMs);
    }

    /** The same with another backend and parallelism. */
    public EngineSettings of(String otherBackend, int otherParallelism) {
        return new EngineSettings(
                otherBackend,
                otherParallelism,
                memory,
                checkpointIntervalMs,
                restartsMax,
                checkpointDirectory,
                properties,
                verbose);
    }

    /** The same, but a job that fails has failed. */
    public EngineSettings withoutRestarts() {
        return new EngineSettings(
                backendName,
                parallelism,
                memory,
                checkpointIntervalMs,
                0,
                checkpointDirectory,
                properties,
                verbose);
    }

    /** The same with checkpoints in a directory that is not the run's. */
    public EngineSettings keepingCheckpoints(String directory) {
        return new EngineSettings(
                backendName,
                parallelism,
                memory,
                checkpointIntervalMs,
                restartsMax,
                directory,
                properties,
                verbose);
    }

    /** The same with more options of Flink; those that are there already come first. */
    public EngineSettings withDefaults(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(properties);
        more.forEach(all::putIfAbsent);
        return new EngineSettings(
                backendName,
                parallelism,
                memory,
                checkpointIntervalMs,
                restartsMax,
                checkpointDirectory,
                all,
                verbose);
    }

    /**
     * Where checkpoints go, and what becomes of them.
     *
     * @param directory of the run, gone at its end
     */
    void checkpoints(Configuration settings, Path directory) {
        if (checkpointDirectory == null) {
            settings.set(
                    CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                    directory.resolve("checkpoints").toUri().toString());
            return;
        }
        settings.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                StoragePath.uri(checkpointDirectory).toString());
        settings.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        settings.set(
                CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, FAILED_CHECKPOINTS_IN_A_ROW_MAX);
    }

    void addTo(Configuration settings) {
        properties.forEach(settings::setString);
    }
}
