package io.afterbay.flink;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.runtime.execution.Environment;

/**
 * Runs a store's requests on its task's thread when that is idle. A request is dropped where a task
 * has no mailbox (yet): then the store is busy with its restore, or used by a test, and notices by
 * itself.
 */
record TaskMailbox(Environment environment) implements Executor {
    @Override
    public void execute(Runnable request) {
        try {
            environment
                    .getMainMailboxExecutor()
                    .execute(request::run, "state store gives memory back");
        } catch (UnsupportedOperationException | IllegalStateException | NullPointerException e) {
            // No mailbox: see above.
        } catch (RejectedExecutionException e) {
            // The task has ended.
        }
    }
}
