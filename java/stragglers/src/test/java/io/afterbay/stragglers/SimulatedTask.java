package io.afterbay.stragglers;

import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/** Does one tuple after the other, in the order in which they come, in simulated time. */
final class SimulatedTask {
    private final VirtualTime time;
    private final LongSupplier serviceNanos;
    private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
    private boolean isBusy;

    /**
     * @param serviceNanos what the next tuple takes, asked for when it is begun with
     */
    SimulatedTask(VirtualTime time, LongSupplier serviceNanos) {
        this.time = time;
        this.serviceNanos = serviceNanos;
    }

    void add(Runnable whenDone) {
        queue.add(whenDone);
        if (!isBusy) {
            serve();
        }
    }

    private void serve() {
        Runnable whenDone = queue.poll();
        isBusy = whenDone != null;
        if (isBusy) {
            time.after(
                    serviceNanos.getAsLong(),
                    () -> {
                        whenDone.run();
                        serve();
                    });
        }
    }
}
