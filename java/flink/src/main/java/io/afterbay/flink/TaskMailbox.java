package io.afterbay.flink;

import io.afterbay.flink.state.AccessGate;
import io.afterbay.store.StoreOwner;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.runtime.execution.Environment;

/**
 * Runs a store's requests on its task's thread when that is idle. A request is dropped where a task
 * has no mailbox (yet): then the store is busy with its restore, or used by a test, and notices by
 * itself.
 *
 * @param gate which the threads pass that use the store
 */
record TaskMailbox(Environment environment, AccessGate gate) implements StoreOwner {
    @Override
    public void execute(Runnable request) {
        try {
            environment
                    .getMainMailboxExecutor()
                    .execute(() -> gate.tryRun(request), "state store gives memory back");
        } catch (UnsupportedOperationException | IllegalStateException | NullPointerException e) {
            // No mailbox: see above.
        } catch (RejectedExecutionException e) {
            // The task has ended.
        }
    }

    /** On any thread: the gate keeps the others out. */
    @Override
    public boolean tryRun(Thread opener, Runnable request) {
        return gate.tryRun(request);
    }
}
