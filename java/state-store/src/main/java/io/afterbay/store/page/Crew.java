package io.afterbay.store.page;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that share the parts of one operation: the caller, and as many helpers as there are. It
 * ends when all parts are done, and never waits for a helper that has not begun.
 */
final class Crew implements Runnable {
    /** More reads at a time gain little on one disk. */
    static final int HELPERS_MAX = 15;

    private final int parts;
    private final IntConsumer work;
    private final AtomicInteger next = new AtomicInteger();

    // All guarded by this.
    private int busy;
    private boolean isOver;
    private @Nullable Throwable failure;

    private Crew(int parts, IntConsumer work) {
        this.parts = parts;
        this.work = work;
    }

    /**
     * Does parts {@code 0..parts - 1}, each once, in no order, unless one fails.
     *
     * @param helpers may refuse
     */
    static void run(int parts, IntConsumer work, Executor helpers) {
        Crew crew = new Crew(parts, work);
        try {
            crew.call(helpers);
            crew.work();
        } finally {
            crew.end();
        }
        crew.rethrow();
    }

    private void call(Executor helpers) {
        try {
            for (int i = Math.min(parts - 1, HELPERS_MAX); i > 0; i--) {
                helpers.execute(this);
            }
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            // Those that are there will do; the error says that no thread could be started.
        }
    }

    private void work() {
        for (int part = next.getAndIncrement(); part < parts; part = next.getAndIncrement()) {
            work.accept(part);
        }
    }

    /** A helper. */
    @Override
    public void run() {
        if (!begin()) {
            return;
        }
        Throwable thrown = null;
        try {
            work();
        } catch (RuntimeException | Error e) {
            thrown = e;
        } finally {
            leave(thrown);
        }
    }

    private synchronized boolean begin() {
        if (!isOver) {
            busy++;
        }
        return !isOver;
    }

    private synchronized void leave(@Nullable Throwable thrown) {
        busy--;
        if (failure == null) {
            failure = thrown;
        }
        notifyAll();
    }

    /** Helpers use what is the caller's, so an interrupt does not end the wait. */
    private synchronized void end() {
        isOver = true;
        boolean wasInterrupted = false;
        while (busy > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void rethrow() {
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (failure instanceof Error error) {
            throw error;
        }
    }
}
