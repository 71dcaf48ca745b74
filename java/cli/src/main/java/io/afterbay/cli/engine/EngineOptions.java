package io.afterbay.cli.engine;

import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.command.ByteSize;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * What was asked for of the embedded engine, by the user or by what runs on it.
 *
 * @param memory of the whole worker process; null for the usual
 * @param stateMemory how much of it is for state off-heap; null for the usual part
 * @param checkpointInterval zero for no checkpoints
 * @param workDirectory where the directories of runs are made; null for the system's
 * @param properties options of Flink, by key
 */
public record EngineOptions(
        int parallelism,
        @Nullable ByteSize memory,
        @Nullable ByteSize stateMemory,
        Duration checkpointInterval,
        @Nullable Path workDirectory,
        Map<String, String> properties,
        boolean verbose) {
    public static final int MAX_PARALLELISM = 128;

    private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(10);
    private static final ByteSize DEFAULT_MEMORY = ByteSize.parse("2g");
    private static final ByteSize STATE_MEMORY_MIN = ByteSize.parse("8m");

    public EngineOptions withParallelism(int instances) {
        return new EngineOptions(
                instances,
                memory,
                stateMemory,
                checkpointInterval,
                workDirectory,
                properties,
                verbose);
    }

    public EngineOptions withCheckpointInterval(Duration interval) {
        return new EngineOptions(
                parallelism, memory, stateMemory, interval, workDirectory, properties, verbose);
    }

    public EngineOptions withWorkDirectory(Path directory) {
        return new EngineOptions(
                parallelism,
                memory,
                stateMemory,
                checkpointInterval,
                directory,
                properties,
                verbose);
    }

    /** The same with other options of Flink. */
    public EngineOptions withProperties(Map<String, String> others) {
        return new EngineOptions(
                parallelism,
                memory,
                stateMemory,
                checkpointInterval,
                workDirectory,
                others,
                verbose);
    }

    /** The same with so much memory where it is not given. */
    public EngineOptions orMemory(@Nullable ByteSize total, @Nullable ByteSize state) {
        return new EngineOptions(
                parallelism,
                memory == null ? total : memory,
                stateMemory == null ? state : stateMemory,
                checkpointInterval,
                workDirectory,
                properties,
                verbose);
    }

    /** The checked division of the memory; bad values are the command's usage errors. */
    public MemorySplit memorySplit(CommandLine command, Backend backend) {
        checkParallelism(command);
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

    public void checkParallelism(CommandLine command) {
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

    private ByteSize totalMemory(ByteSize machine) {
        if (memory != null) {
            return memory;
        }
        return DEFAULT_MEMORY.bytes() <= machine.bytes() / 4 * 3
                ? DEFAULT_MEMORY
                : new ByteSize(machine.bytes() / 4 * 3);
    }

    /** What an engine with this backend gets; bad values are the command's usage errors. */
    public EngineSettings settings(CommandLine command, Backend backend) {
        return settings(backend, memorySplit(command, backend));
    }

    public EngineSettings settings(Backend backend, MemorySplit split) {
        return new EngineSettings(
                backend.name(),
                parallelism,
                split,
                checkpointInterval.toMillis(),
                EngineSettings.RESTARTS_MAX,
                null,
                properties,
                verbose);
    }
}
