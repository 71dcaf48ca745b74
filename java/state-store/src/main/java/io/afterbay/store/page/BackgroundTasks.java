package io.afterbay.store.page;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a log has others do, and for whose end its closing waits. Closing waits only for tasks that
 * have begun: an executor that is shut down forgets the others.
 */
final class BackgroundTasks {
    private final ReentrantLock lock;

    /** Signalled when a task has ended. */
    private final Condition changed;

    private final Executor urgent;
    private int running;
    private boolean closed;

    BackgroundTasks(ReentrantLock lock, Condition changed, Executor urgent) {
        this.lock = lock;
        this.changed = changed;
        this.urgent = urgent;
    }

    /** As {@link #submit(Runnable, Executor)}, with the urgent one. */
    boolean submit(Runnable task) {
        return submit(task, urgent);
    }

    /** Has a task run, unless the log is closed before; false if the executor takes no more. */
    boolean submit(Runnable task, Executor executor) {
        try {
            executor.execute(() -> runIfOpen(task));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Runs a task in this thread; nothing if the log is closed. */
    void runIfOpen(Runnable task) {
        if (!begin()) {
            return;
        }
        try {
            task.run();
        } finally {
            end();
        }
    }

    private boolean begin() {
        lock.lock();
        try {
            running += closed ? 0 : 1;
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void end() {
        lock.lock();
        try {
            running--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        return closed;
    }

    /** Begins no more tasks, and waits for those that run. Lock held, and let go of meanwhile. */
    void close() {
        closed = true;
        while (running > 0) {
            changed.awaitUninterruptibly();
        }
    }
}
