package io.afterbay.cli.engine;

import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of the embedded engine, the same for every job and command. */
public class EngineArguments {
    public static final int MAX_PARALLELISM = 128;

    private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(10);
    private static final ByteSize DEFAULT_MEMORY = ByteSize.parse("2g");
    private static final ByteSize STATE_MEMORY_MIN = ByteSize.parse("8m");

    /** The command says how it is chosen. */
    public Backend backend = Backend.AFTERBAY;

    /** How often a failed job is started again from its last checkpoint. */
    public int restartsMax = 3;

    @Option(
            names = "--parallelism",
            paramLabel = "N",
            description =
                    "Instances of each keyed stage (default: the processors of this machine, at"
                            + " most 8).")
    public int parallelism = Math.min(8, Runtime.getRuntime().availableProcessors());

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            description = {
                "Memory of the whole worker process, for example 1500m or 4g (default: 2g, or three"
                        + " quarters of the machine if that is less). The split is printed."
            })
    public @Nullable ByteSize memory;

    @Option(
            names = "--state-memory",
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            description =
                    "How much of --memory is for state off-heap, at least 8m (default: half of what"
                            + " the engine leaves). State of the hashmap backend is on the heap,"
                            + " which has the rest.")
    public @Nullable ByteSize stateMemory;

    @Option(
            names = "--checkpoint-interval",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "10s",
            description =
                    "Time between checkpoints, for example 500ms, 10s, 2min, or off (default:"
                            + " ${DEFAULT-VALUE}).")
    public Duration checkpointInterval = Duration.ofSeconds(10);

    @Option(
            names = "--work-dir",
            paramLabel = "DIR",
            description =
                    "Where local state and checkpoints live during the run, in a directory that is"
                            + " removed at the end (default: TMPDIR or /tmp).")
    public @Nullable Path workDirectory;

    public @Mixin final EngineProperties properties = new EngineProperties();

    @Option(names = "--verbose", description = "Show the engine's log and stack traces.")
    public boolean verbose;

    /** The checked division of the memory; bad values are the command's usage errors. */
    public MemorySplit memorySplit(CommandLine command) {
        checkCommon(command);
        if (stateMemory != null && stateMemory.bytes() < STATE_MEMORY_MIN.bytes()) {
            throw new ParameterException(
                    command,
                    "--state-memory %s: too little; the least is %s"
                            .formatted(stateMemory, STATE_MEMORY_MIN));
        }
        ByteSize machine = ProcessFigures.machineMemory();
        ByteSize total = totalMemory(machine);
        ByteSize minimum = MemorySplit.minimum(backend, parallelism, stateMemory);
        if (total.bytes() < minimum.bytes()) {
            throw new ParameterException(
                    command,
                    "--memory %s: too little; backend %s with parallelism %d needs at least %dm"
                            .formatted(total, backend, parallelism, minimum.mebibytes()));
        }
        if (total.bytes() > machine.bytes()) {
            throw new ParameterException(
                    command, "--memory %s: this machine has %s".formatted(total, machine));
        }
        return MemorySplit.of(total, backend, parallelism, stateMemory);
    }

    /** Checks what does not depend on memory. */
    protected final void checkCommon(CommandLine command) {
        properties.check(command);
        if (parallelism < 1 || parallelism > MAX_PARALLELISM) {
            throw new ParameterException(
                    command,
                    "--parallelism %d: use a number from 1 to %d"
                            .formatted(parallelism, MAX_PARALLELISM));
        }
    }

    public void checkInterval(CommandLine command) {
        if (!checkpointInterval.isZero() && checkpointInterval.compareTo(SHORTEST_INTERVAL) < 0) {
            throw new ParameterException(
                    command, "--checkpoint-interval: use 10ms or more, or off");
        }
    }

    /**
     * Where checkpoints go, and what becomes of them.
     *
     * @param directory of the run, gone at its end
     */
    public void checkpoints(Configuration settings, Path directory) {
        settings.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("checkpoints").toUri().toString());
    }

    private ByteSize totalMemory(ByteSize machine) {
        if (memory != null) {
            return memory;
        }
        return DEFAULT_MEMORY.bytes() <= machine.bytes() / 4 * 3
                ? DEFAULT_MEMORY
                : new ByteSize(machine.bytes() / 4 * 3);
    }
}
