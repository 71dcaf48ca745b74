package io.afterbay.flink.incremental;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/**
 * Shares the way to checkpoint storage between reads that somebody waits for and those ahead of any
 * need. The latter let one of the former pass after each turn, but wait no longer than the turn
 * took: so nobody waits behind a long download, and a download has half of its time however much is
 * asked for meanwhile.
 */
final class Turns {
    private int underWay;
    private long ended;

    /** Somebody waits for a read. */
    synchronized void begin() {
        underWay++;
    }

    synchronized void end() {
        underWay--;
        ended++;
        notifyAll();
    }

    /** Waits for the end of a read that is under way, if there is any, for so long at most. */
    synchronized void giveWay(long nanosMax) throws IOException {
        long before = ended;
        long deadline = System.nanoTime() + nanosMax;
        try {
            while (underWay > 0 && ended == before) {
                long nanos = deadline - System.nanoTime();
                if (nanos <= 0) {
                    return;
                }
                TimeUnit.NANOSECONDS.timedWait(this, nanos);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted during a download");
        }
    }
}
