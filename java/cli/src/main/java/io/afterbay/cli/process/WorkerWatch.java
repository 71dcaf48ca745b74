package io.afterbay.cli.process;

import io.afterbay.handover.WorkerStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** A worker of a comparison, watched until it ends, does not move any more, or is not wanted. */
public final class WorkerWatch {
    private static final long TICK_MILLIS = 200;

    /** Why the watching ended. */
    public enum End {
        ENDED,
        HUNG,
        STOPPED
    }

    /**
     * @param exitCode of the process; of one that was killed here, of no meaning
     * @param cpu processor time of the process
     */
    public record Outcome(End end, int exitCode, Duration cpu) {}

    private final Process process;
    private final Duration patience;
    private final LongSupplier clock;
    private volatile WorkerStatus status = WorkerStatus.STARTING;
    private volatile long movedNanos;
    private Duration cpu = Duration.ZERO;

    private WorkerWatch(Process process, Duration patience, LongSupplier clock) {
        this.process = process;
        this.patience = patience;
        this.clock = clock;
        this.movedNanos = clock.getAsLong();
    }

    /**
     * Starts a worker and returns when it is no more.
     *
     * @param patience how long its status may stay the same
     * @param stop whether it is to be killed
     * @param listener called every so often, on this thread
     */
    public static Outcome watch(
            ProcessBuilder builder,
            Duration patience,
            BooleanSupplier stop,
            Consumer<WorkerStatus> listener)
            throws IOException, InterruptedException {
        return watch(builder, patience, stop, listener, System::nanoTime);
    }

    /** The same by another clock. */
    public static Outcome watch(
            ProcessBuilder builder,
            Duration patience,
            BooleanSupplier stop,
            Consumer<WorkerStatus> listener,
            LongSupplier clock)
            throws IOException, InterruptedException {
        WorkerWatch worker = new WorkerWatch(builder.start(), patience, clock);
        Thread reader = new Thread(worker::read, "worker status");
        reader.setDaemon(true);
        reader.start();
        try {
            End end = worker.watch(stop, listener);
            return new Outcome(end, worker.process.waitFor(), worker.cpu);
        } finally {
            worker.process.destroyForcibly();
        }
    }

    private End watch(BooleanSupplier stop, Consumer<WorkerStatus> listener)
            throws InterruptedException {
        while (!process.waitFor(TICK_MILLIS, TimeUnit.MILLISECONDS)) {
            cpu = process.info().totalCpuDuration().orElse(cpu);
            if (stop.getAsBoolean()) {
                return kill(End.STOPPED);
            }
            if (clock.getAsLong() - movedNanos > patience.toNanos()) {
                return kill(End.HUNG);
            }
            listener.accept(status);
        }
        return End.ENDED;
    }

    private End kill(End reason) {
        process.destroyForcibly();
        return reason;
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                WorkerStatus.parse(line).ifPresent(this::moved);
            }
        } catch (IOException e) {
            // The worker has ended.
        }
    }

    private void moved(WorkerStatus next) {
        if (!next.equals(status)) {
            movedNanos = clock.getAsLong();
            status = next;
        }
    }
}
