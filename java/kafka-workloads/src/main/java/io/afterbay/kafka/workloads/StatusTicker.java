package io.afterbay.kafka.workloads;

import io.afterbay.handover.WorkerStatus;
import java.util.concurrent.TimeUnit;

/** Says how far this process is, now and then, and whenever the phase is another one. */
final class StatusTicker {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private String lastPhase = "";
    private long lastNanos;

    /**
     * @param sent words
     * @param words in all
     * @param results that were read
     */
    void say(String phase, long sent, long words, long results) {
        long now = System.nanoTime();
        if (!phase.equals(lastPhase) || now - lastNanos >= TICK_NANOS) {
            lastPhase = phase;
            lastNanos = now;
            new WorkerStatus(phase, sent, words, results).say();
        }
    }
}
