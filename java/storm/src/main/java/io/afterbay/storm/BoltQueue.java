package io.afterbay.storm;

import io.afterbay.stragglers.SharedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.apache.storm.tuple.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * The one input queue of a bolt's tasks in one worker, and what went wrong in any of them. Safe for
 * use by any thread.
 */
final class BoltQueue {
    private final int capacity;
    private final SharedQueue<Work> queue;
    private final LongAdder moved = new LongAdder();
    private final MeanTime times = new MeanTime();
    private volatile @Nullable Throwable failure;

    BoltQueue(int capacity) {
        this.capacity = capacity;
        this.queue = new SharedQueue<>(capacity);
    }

    /**
     * A tuple, and the task that Storm gave it to.
     *
     * @param task its id
     */
    record Work(Tuple tuple, int task) {}

    /** The side of a new task. */
    SharedQueue<Work>.Lane join() {
        return queue.join(capacity);
    }

    /** For any task; waits for a place, so that Storm's backpressure works. */
    void put(Work work) throws InterruptedException {
        check(queue.put(work));
    }

    /** For one task alone. */
    void put(SharedQueue<Work>.Lane lane, Work work) throws InterruptedException {
        check(lane.put(work));
    }

    private void check(boolean isIn) throws InterruptedException {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException(
                    "a task of the same bolt has failed in this worker", cause);
        }
        if (!isIn) {
            // The worker ends.
            throw new InterruptedException();
        }
    }

    /** A task took it. */
    void taken(Work work, int by) {
        if (work.task != by) {
            moved.increment();
        }
    }

    /** How long tasks take for a tuple. */
    MeanTime times() {
        return times;
    }

    /** From now on nothing is taken: the next tuple ends its executor, and so the worker. */
    void fail(Throwable cause) {
        failure = cause;
        queue.close();
    }

    void close() {
        queue.close();
    }

    /** How many tuples another task has processed than the one that they were sent to. */
    long moved() {
        return moved.sum();
    }

    /** How many tuples wait for any task. */
    int size() {
        return queue.size();
    }
}
