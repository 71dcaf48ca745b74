package io.afterbay.cli.engine;

import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the embedded engine, the same for every job and command. */
public class EngineArguments {
    @Option(
            names = "--parallelism",
            paramLabel = "N",
            description =
                    "Instances of each keyed stage (default: the processors of this machine, at"
                            + " most 8).")
    private int parallelism = Math.min(8, Runtime.getRuntime().availableProcessors());

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            description = {
                "Memory of the whole worker process, for example 1500m or 4g (default: 2g, or three"
                        + " quarters of the machine if that is less). The split is printed."
            })
    private @Nullable ByteSize memory;

    @Option(
            names = "--state-memory",
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            description =
                    "How much of --memory is for state off-heap, at least 8m (default: half of what"
                            + " the engine leaves). State of the hashmap backend is on the heap,"
                            + " which has the rest.")
    private @Nullable ByteSize stateMemory;

    @Option(
            names = "--checkpoint-interval",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "10s",
            description =
                    "Time between checkpoints, for example 500ms, 10s, 2min, or off (default:"
                            + " ${DEFAULT-VALUE}).")
    private Duration checkpointInterval = Duration.ofSeconds(10);

    @Option(
            names = "--work-dir",
            paramLabel = "DIR",
            description =
                    "Where local state and checkpoints live during the run, in a directory that is"
                            + " removed at the end (default: TMPDIR or /tmp).")
    private @Nullable Path workDirectory;

    @Mixin private final EngineProperties properties = new EngineProperties();

    @Option(names = "--verbose", description = "Show the engine's log and stack traces.")
    private boolean verbose;

    /** What they say, not checked. */
    public final EngineOptions options() {
        return new EngineOptions(
                parallelism,
                memory,
                stateMemory,
                checkpointInterval,
                workDirectory,
                properties.given(),
                verbose);
    }

    /** Wrong options of Flink are the command's usage errors. */
    public final void checkProperties(CommandLine command) {
        properties.check(command);
    }
}
