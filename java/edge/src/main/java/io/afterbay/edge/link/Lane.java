package io.afterbay.edge.link;

import java.util.concurrent.TimeUnit;

/**
 * One direction of a link. Bytes leave one behind the other, at its rate; those of several
 * connections share it. For any number of threads.
 */
final class Lane {
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final long bitsPerSecond;
    private final long delayNanos;
    private double freeAtNanos = System.nanoTime();
    private long bytes;

    Lane(LinkShape shape) {
        this.bitsPerSecond = shape.bitsPerSecond();
        this.delayNanos = shape.roundTrip().toNanos() / 2;
    }

    /**
     * Puts bytes onto the link; returns when the last of them is on it.
     *
     * @return when it is at the other end, as {@link System#nanoTime} tells time
     */
    long put(int count) throws InterruptedException {
        long sentAt = reserve(count);
        sleepUntil(sentAt);
        return sentAt + delayNanos;
    }

    private synchronized long reserve(int count) {
        bytes += count;
        freeAtNanos =
                Math.max(freeAtNanos, System.nanoTime())
                        + NANOS_PER_SECOND * count * Byte.SIZE / bitsPerSecond;
        return (long) freeAtNanos;
    }

    synchronized long bytes() {
        return bytes;
    }

    static void sleepUntil(long nanoTime) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanoTime - System.nanoTime());
    }
}
