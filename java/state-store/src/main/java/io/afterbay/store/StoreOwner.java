package io.afterbay.store;

import java.util.concurrent.Executor;

/**
 * The thread that works with a store. It is the one that opened the store, unless an implementation
 * knows of several that take turns.
 */
@FunctionalInterface
public interface StoreOwner extends Executor {
    /**
     * Runs a task on the owner's thread when that is idle (a mailbox), so that an idle store can
     * give memory back. May drop it if the owner is busy anyway: then the store notices by itself.
     */
    @Override
    void execute(Runnable task);

    /**
     * Runs a task on the caller's thread if that is the owner, or if it is known that the owner is
     * between two operations and stays there. Waits for nobody. The caller may be in an operation
     * of another store.
     *
     * @param opener the thread that opened the store
     * @return whether it ran
     */
    default boolean tryRun(Thread opener, Runnable task) {
        if (Thread.currentThread() != opener) {
            return false;
        }
        task.run();
        return true;
    }
}
