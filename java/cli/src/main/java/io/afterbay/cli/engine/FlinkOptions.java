package io.afterbay.cli.engine;

import io.afterbay.command.CommandFailure;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.jspecify.annotations.Nullable;

/** The options that Flink declares, to tell a value that it cannot read before a job starts. */
public final class FlinkOptions {
    private static final Stream<String> CORE =
            Stream.of(
                            "Algorithm",
                            "BatchExecution",
                            "BlobServer",
                            "Checkpointing",
                            "Cluster",
                            "Core",
                            "Deployment",
                            "Execution",
                            "HeartbeatManager",
                            "HighAvailability",
                            "JobManager",
                            "Metric",
                            "NettyShuffleEnvironment",
                            "Pipeline",
                            "ResourceManager",
                            "Rest",
                            "RestartStrategy",
                            "Rpc",
                            "Security",
                            "SlowTaskDetector",
                            "StateBackend",
                            "StateChangelog",
                            "StateRecovery",
                            "TaskManager",
                            "Web")
                    .map(name -> "org.apache.flink.configuration." + name + "Options");
    private static final Stream<String> OTHERS =
            Stream.of(
                    "org.apache.flink.state.rocksdb.RocksDBOptions",
                    "org.apache.flink.state.rocksdb.RocksDBConfigurableOptions",
                    "org.apache.flink.table.api.config.ExecutionConfigOptions",
                    "org.apache.flink.table.api.config.OptimizerConfigOptions",
                    "org.apache.flink.table.api.config.TableConfigOptions",
                    "io.afterbay.flink.AfterbayOptions");
    private static final List<String> CLASSES = Stream.concat(CORE, OTHERS).toList();

    private final Map<String, ConfigOption<?>> byKey = new HashMap<>();

    private FlinkOptions() {}

    public static FlinkOptions onClassPath() {
        FlinkOptions options = new FlinkOptions();
        CLASSES.forEach(options::addAllOf);
        return options;
    }

    private void addAllOf(String className) {
        try {
            Class<?> type = Class.forName(className, true, CoreOptions.class.getClassLoader());
            for (Field field : type.getFields()) {
                if (Modifier.isStatic(field.getModifiers())
                        && field.get(null) instanceof ConfigOption<?> option) {
                    byKey.put(option.key(), option);
                    option.fallbackKeys().forEach(key -> byKey.put(key.getKey(), option));
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(className + " is not part of this Flink", e);
        }
    }

    /** What is wrong with a value, or null if nothing is or nobody can tell. */
    public @Nullable String problem(String key, String value) {
        ConfigOption<?> option = byKey.get(key);
        if (option == null) {
            return null;
        }
        Configuration settings = new Configuration();
        settings.setString(key, value);
        try {
            settings.get(option);
            return null;
        } catch (RuntimeException e) {
            return messages(e);
        }
    }

    private static String messages(Throwable failure) {
        List<String> messages = new ArrayList<>();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            messages.add(CommandFailure.reason(cause));
        }
        return String.join(" ", messages);
    }
}
