package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.WorkloadException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lines of a pipe, read by a daemon thread into a bounded queue: a read from a silent pipe cannot
 * be interrupted, and must hold up neither checkpoints nor the end of the job.
 */
final class PipeFeed implements LineFeed {
    private static final int QUEUE_LINES = 8192;

    /** A line, the end (neither), or a failure. */
    private record Item(@Nullable TraceLine line, @Nullable WorkloadException failure) {}

    private final BlockingQueue<Item> queue = new ArrayBlockingQueue<>(QUEUE_LINES);
    private final Thread pump;
    private @Nullable Item head;

    PipeFeed(TraceLines lines) {
        pump = new Thread(() -> pump(lines), "afterbay-pipe");
        pump.setDaemon(true);
        pump.start();
    }

    private void pump(TraceLines lines) {
        try {
            while (true) {
                Item item = read(lines);
                queue.put(item);
                if (item.line() == null) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            // Closed: nobody waits for more lines.
        }
    }

    private static Item read(TraceLines lines) {
        try {
            return new Item(lines.next(), null);
        } catch (WorkloadException e) {
            return new Item(null, e);
        }
    }

    @Override
    public boolean isReady(long waitMillis) {
        try {
            if (head == null) {
                head = queue.poll(waitMillis, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return head != null;
    }

    @Override
    public @Nullable TraceLine next() throws WorkloadException {
        Item item = head;
        if (item == null) {
            throw new IllegalStateException("next() without isReady()");
        }
        if (item.failure() != null) {
            throw item.failure();
        }
        if (item.line() != null) {
            head = null;
        }
        return item.line();
    }

    @Override
    public void close() {
        pump.interrupt();
    }
}
