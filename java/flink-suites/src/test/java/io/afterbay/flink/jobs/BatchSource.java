package io.afterbay.flink.jobs;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.rocksdb.Env;

/**
 * All keys once, then again after a checkpoint with them is complete and RocksDB of this process is
 * quiet; so many times. One instance, in this virtual machine.
 */
final class BatchSource
        implements SourceFunction<Integer>, CheckpointedFunction, CheckpointListener {
    private static final long serialVersionUID = 1L;
    private static final int QUIET_LOOKS = 10;

    /** As the source ended; null if no instance counted. */
    static volatile DesyncMetrics metrics;

    /**
     * Behind one batch. On a busy machine the flushes of a checkpoint may be so far apart that they
     * are two bursts.
     */
    static volatile long mostCompactions;

    static volatile boolean hasFailed;
    private static volatile int failingBatch;

    private final int keys;
    private final int batches;
    private volatile boolean running = true;
    private int next;
    private transient ListState<Integer> position;
    private transient Map<Long, Integer> nextByCheckpoint;
    private transient volatile int complete;

    BatchSource(int keys, int batches) {
        this.keys = keys;
        this.batches = batches;
    }

    static void reset(int failingBatchOrNever) {
        metrics = null;
        mostCompactions = 0;
        hasFailed = false;
        failingBatch = failingBatchOrNever;
    }

    @Override
    public void run(SourceContext<Integer> context) throws Exception {
        while (running && next < batches) {
            long before = compactionsBegan();
            synchronized (context.getCheckpointLock()) {
                for (int key = 0; key < keys; key++) {
                    context.collect(key);
                }
                next++;
            }
            while (running && complete < next) {
                Thread.sleep(5);
            }
            awaitQuiet();
            mostCompactions = Math.max(mostCompactions, compactionsBegan() - before);
            failOnce();
        }
        metrics = Desync.metrics(Env.getDefault());
    }

    private static long compactionsBegan() {
        DesyncMetrics now = Desync.metrics(Env.getDefault());
        return now == null ? 0 : now.compactionsBegan();
    }

    private void failOnce() {
        if (next == failingBatch && !hasFailed) {
            hasFailed = true;
            throw new IllegalStateException("injected failure of batch " + next);
        }
    }

    /** Several looks, since a compaction that leaves the queue is not at work at once. */
    private void awaitQuiet() throws InterruptedException {
        for (int quiet = 0; running && quiet < QUIET_LOOKS; quiet++) {
            Thread.sleep(5);
            DesyncMetrics now = Desync.metrics(Env.getDefault());
            if (now != null && isBusy(now)) {
                quiet = 0;
            }
        }
    }

    private static boolean isBusy(DesyncMetrics now) {
        return now.isBurst() || now.flushes() + now.compactions() + now.compactionsQueued() > 0;
    }

    @Override
    public void cancel() {
        running = false;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        position.update(List.of(next));
        nextByCheckpoint.put(context.getCheckpointId(), next);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        complete = Math.max(complete, nextByCheckpoint.getOrDefault(checkpointId, 0));
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        nextByCheckpoint = new ConcurrentHashMap<>();
        position =
                context.getOperatorStateStore()
                        .getListState(new ListStateDescriptor<>("position", Integer.class));
        for (int restored : position.get()) {
            next = restored;
            complete = restored;
        }
    }
}
