package io.afterbay.workloads.run;

import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;

/** Engine settings of the tests. */
public final class Backends {
    private Backends() {}

    public static Configuration settings(
            String backend, Path directory, Duration checkpointInterval) {
        Configuration settings = new Configuration();
        boolean rocksdb = backend.startsWith("rocksdb");
        settings.set(StateBackendOptions.STATE_BACKEND, rocksdb ? "rocksdb" : backend);
        settings.setString(
                "state.backend.rocksdb.timer-service.factory",
                backend.equals("rocksdb") ? "ROCKSDB" : "HEAP");
        settings.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, rocksdb);
        settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, checkpointInterval);
        settings.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("cp").toUri().toString());
        settings.set(CoreOptions.TMP_DIRS, directory.toString());
        settings.set(RestOptions.BIND_PORT, "0");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
        settings.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
        return settings;
    }
}
