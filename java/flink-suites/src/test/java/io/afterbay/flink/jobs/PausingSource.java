package io.afterbay.flink.jobs;

import io.afterbay.testing.Await;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;

/**
 * Counts up, keys in a round that is not in order, and waits at {@link #pauseAt}; one instance, in
 * this virtual machine.
 */
final class PausingSource implements SourceFunction<Tuple2<Integer, Long>>, CheckpointedFunction {
    private static final long serialVersionUID = 1L;
    private static final int KEYS = 97;
    private static final int WATERMARK_EVERY = 50;
    private static final long OUT_OF_ORDER_MILLIS = 20;

    static volatile long pauseAt;
    static final AtomicLong EMITTED = new AtomicLong();

    private final long end;
    private volatile boolean running = true;
    private long next;
    private transient ListState<Long> position;

    PausingSource(long end) {
        this.end = end;
    }

    /** Before a job is started. */
    static void reset(long firstPause) {
        pauseAt = firstPause;
        EMITTED.set(0);
    }

    static void awaitPause() throws Exception {
        Await.until(
                () -> "%d elements; the job has read %s".formatted(pauseAt, EMITTED),
                () -> EMITTED.get() >= pauseAt);
    }

    @Override
    public void run(SourceContext<Tuple2<Integer, Long>> context) throws Exception {
        while (running && next < end) {
            if (next >= pauseAt) {
                Thread.sleep(1);
                continue;
            }
            synchronized (context.getCheckpointLock()) {
                emit(context);
            }
            EMITTED.set(next);
        }
    }

    private void emit(SourceContext<Tuple2<Integer, Long>> context) {
        long timestamp = next - next % 7 * 3 + 18;
        context.collectWithTimestamp(Tuple2.of((int) (next * 31 % KEYS), next), timestamp);
        next++;
        if (next % WATERMARK_EVERY == 0) {
            context.emitWatermark(new Watermark(next - OUT_OF_ORDER_MILLIS));
        }
    }

    @Override
    public void cancel() {
        running = false;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        position.update(List.of(next));
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        position =
                context.getOperatorStateStore()
                        .getListState(new ListStateDescriptor<>("position", Long.class));
        for (long restored : position.get()) {
            next = restored;
        }
    }
}
