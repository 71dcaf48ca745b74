package io.afterbay.flink.incremental;

import io.afterbay.store.StoreOwner;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What other threads ask the owner of a store to do; it does that now and then. */
final class OwnerTasks implements StoreOwner {
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    /** Called by the owner. */
    void runAll() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
