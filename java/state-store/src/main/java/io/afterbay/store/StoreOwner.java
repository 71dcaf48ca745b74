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
     * Whether the caller's thread is the owner, or may be its turn.
     *
     * @param opener the thread that opened the store
     */
    default boolean isCurrentThread(Thread opener) {
        return Thread.currentThread() == opener;
    }

    /**
     * Runs a task on the caller's thread, {@link #isCurrentThread} or in {@link #execute}, unless
     * another one has its turn. Waits for nobody.
     *
     * @return whether it ran
     */
    default boolean tryRun(Runnable task) {
        task.run();
        return true;
    }
}
