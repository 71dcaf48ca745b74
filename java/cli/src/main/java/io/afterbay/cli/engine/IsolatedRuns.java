package io.afterbay.cli.engine;

import io.afterbay.cli.process.MachineLoad;
import io.afterbay.cli.process.MemoryCgroup;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.cli.process.WorkerWatch;
import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs workers, one after the other. Whatever happens in one of them is a result. */
public final class IsolatedRuns {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final String LOG = "worker.log";

    private final @Nullable Path parent;
    private final boolean verbose;
    private final @Nullable ByteSize limit;
    private final MachineLoad load;
    private final BooleanSupplier stop;

    /**
     * @param options where working directories are made, and whether workers' logs are shown
     * @param limit of the memory cgroup of each worker, or null
     * @param stop whether the user wants no more
     */
    public IsolatedRuns(
            EngineOptions options,
            @Nullable ByteSize limit,
            MachineLoad load,
            BooleanSupplier stop) {
        this.parent = options.workDirectory();
        this.verbose = options.verbose();
        this.limit = limit;
        this.load = load;
        this.stop = stop;
    }

    /** What is handed to a worker in its working directory, and what is found there after it. */
    public interface Errand<F> {
        void prepare(Path directory) throws IOException;

        /**
         * @param problem why the worker did not do all its work, or null
         */
        F collect(Path directory, @Nullable String problem);
    }

    /** What the worker found out; nothing if it was stopped. */
    public <F> Optional<F> run(
            WorkerLauncher process, Errand<F> errand, Consumer<WorkerStatus> listener)
            throws CommandFailure, InterruptedException {
        Path directory = WorkDirectory.create(parent);
        MemoryCgroup group = limit == null ? null : MemoryCgroup.create(limit);
        try {
            errand.prepare(directory);
            ProcessBuilder builder = builder(process, directory, group);
            WorkerWatch.Outcome outcome = WorkerWatch.watch(builder, PATIENCE, stop, listener);
            load.own(outcome.cpu());
            if (outcome.end() == WorkerWatch.End.STOPPED) {
                return Optional.empty();
            }
            return Optional.of(
                    errand.collect(directory, problem(process, directory, group, outcome)));
        } catch (IOException e) {
            throw new CommandFailure("cannot start a worker: " + CommandFailure.reason(e), e);
        } finally {
            WorkDirectory.remove(directory);
            if (group != null) {
                group.close();
            }
        }
    }

    private ProcessBuilder builder(
            WorkerLauncher process, Path directory, @Nullable MemoryCgroup group)
            throws CommandFailure {
        ProcessBuilder builder = process.builder(directory);
        if (group != null) {
            builder.command(group.within(builder.command()));
        }
        return builder.redirectError(
                verbose
                        ? ProcessBuilder.Redirect.INHERIT
                        : ProcessBuilder.Redirect.to(directory.resolve(LOG).toFile()));
    }

    private @Nullable String problem(
            WorkerLauncher process,
            Path directory,
            @Nullable MemoryCgroup group,
            WorkerWatch.Outcome outcome) {
        if (outcome.end() == WorkerWatch.End.HUNG) {
            return "no progress for %d s; killed".formatted(PATIENCE.toSeconds());
        }
        return switch (outcome.exitCode()) {
            case ExitCode.OK -> null;
            case ExitCode.JVM_OUT_OF_MEMORY -> process.outOfHeap();
            case ExitCode.KILLED ->
                    group != null && group.hasKilled()
                            ? "the kernel killed the worker: it needed more than the %s of its cgroup"
                                    .formatted(limit)
                            : WorkerLauncher.KILLED;
            default ->
                    "the worker ended with code "
                            + outcome.exitCode()
                            + WorkerLog.lastWords(directory.resolve(LOG));
        };
    }
}
