package io.afterbay.spark;

import java.io.IOException;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecutionContext;
import org.apache.spark.sql.execution.streaming.runtime.SingleBatchExecutor;
import org.apache.spark.sql.execution.streaming.runtime.TriggerExecutor;
import org.apache.spark.util.UninterruptibleThread;
import scala.Function1;

/**
 * Does something when the last batch of a query has ended, on the thread of the query, before
 * anybody hears of it: {@code stop} and {@code awaitTermination} wait for it, and a temporary
 * checkpoint is deleted after it.
 *
 * <p>Spark has no such hook. What runs a query's batches, until it is stopped, fails, or has no
 * input left, is its {@link TriggerExecutor}; this stands in front of it until it begins. During
 * the batches it must not, since Spark asks for the executor's class then. (That of the class above
 * matters to nobody: it spares the methods whose names Scala has made.)
 */
final class QueryEnd extends SingleBatchExecutor {
    private static final long serialVersionUID = 1;

    /** What is done at the end. It is not interrupted. */
    @FunctionalInterface
    interface Action {
        void run() throws IOException;
    }

    private final transient MicroBatchExecution query;
    private final transient TriggerExecutor batches;
    private final transient Action action;

    private QueryEnd(MicroBatchExecution query, TriggerExecutor batches, Action action) {
        this.query = query;
        this.batches = batches;
        this.action = action;
    }

    /** To be called before the first batch. */
    static void set(MicroBatchExecution query, Action action) {
        query.triggerExecutor_$eq(new QueryEnd(query, query.triggerExecutor(), action));
    }

    @Override
    public void setNextBatch(MicroBatchExecutionContext batch) {
        batches.setNextBatch(batch);
    }

    /**
     * Runs all batches. Scala's exceptions are not declared: a query that is stopped throws some.
     */
    @Override
    public void execute(Function1<MicroBatchExecutionContext, Object> runOne) {
        query.triggerExecutor_$eq(batches);
        try {
            batches.execute(runOne);
        } catch (Throwable e) {
            endAfter(e);
            throw e;
        }
        end();
    }

    /** What has ended a query that nobody has stopped is what its user wants to hear first. */
    private void endAfter(Throwable failure) {
        try {
            end();
        } catch (Exception e) {
            if (!query.isActive()) {
                throw e;
            }
            failure.addSuppressed(e);
        }
    }

    private void end() {
        UninterruptibleThread thread = (UninterruptibleThread) Thread.currentThread();
        thread.runUninterruptibly(
                () -> {
                    try {
                        action.run();
                    } catch (IOException e) {
                        throw Rethrown.as(e);
                    }
                    return null;
                });
    }
}
