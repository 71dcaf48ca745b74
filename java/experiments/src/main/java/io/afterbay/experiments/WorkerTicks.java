package io.afterbay.experiments;

import io.afterbay.command.CommandFailure;
import io.afterbay.handover.WorkerStatus;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The waiting of a worker whose job must not end by itself: says on standard output how far it is,
 * and gives up on a phase that takes too long.
 */
public final class WorkerTicks {
    private static final long TICK_MILLIS = 100;
    private static final Duration PHASE_MAX = Duration.ofMinutes(30);

    private String phase = "";
    private long phaseNanos;
    private long ticks;

    /**
     * Waits a little.
     *
     * @param ended completes when the job ends
     * @param events that have entered the job
     */
    public void await(CompletableFuture<Void> ended, String inPhase, long events) throws Exception {
        if (!inPhase.equals(phase)) {
            phase = inPhase;
            phaseNanos = System.nanoTime();
        } else if (System.nanoTime() - phaseNanos > PHASE_MAX.toNanos()) {
            throw new CommandFailure(
                    "phase '%s' did not end within %d min".formatted(phase, PHASE_MAX.toMinutes()));
        }
        try {
            ended.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
            throw new CommandFailure("the job ended before it was told to");
        } catch (TimeoutException e) {
            new WorkerStatus(phase, events, Long.MAX_VALUE, ticks++).say();
        }
    }
}
