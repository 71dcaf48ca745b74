package io.afterbay.flink.jobs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.util.Collector;

/**
 * The operators of {@link Pipeline}, one of which is slow and fails once after some checkpoints,
 * and a sink that keeps all lines in its state, so that each line that it has at the end counts.
 */
final class SlowJob {
    static final Queue<String> OUTPUTS = new ConcurrentLinkedQueue<>();

    private static final int CHECKPOINTS_BEFORE_THE_FAILURE = 4;

    /** Of a subtask; those that follow take so long that checkpoints come before the end. */
    private static final int QUICK_ELEMENTS = 1000;

    private static final long QUICK_MILLIS = 1;
    private static final long SLOW_MILLIS = 100;
    private static final AtomicInteger COMPLETED = new AtomicInteger();
    private static volatile boolean isSlow;
    private static volatile boolean hasFailed;

    private SlowJob() {}

    static void reset(boolean slow) {
        OUTPUTS.clear();
        COMPLETED.set(0);
        isSlow = slow;
        hasFailed = !slow;
    }

    static void build(StreamExecutionEnvironment env, long elements) {
        DataStream<String> lines = null;
        for (DataStream<String> some : Pipeline.lines(env, elements, new Slow())) {
            lines = lines == null ? some : lines.union(some);
        }
        lines.addSink(new Lines()).setParallelism(1);
    }

    /**
     * Slow as long as it has not failed, so that elements wait before it. Checkpoints from before
     * its first element do not count: nothing may have been on its way then.
     */
    private static final class Slow extends Pipeline.Counter
            implements CheckpointListener, CheckpointedFunction {
        private static final long serialVersionUID = 1L;
        private transient int seen;
        private transient Set<Long> counting;

        @Override
        public void processElement(
                Tuple2<Integer, Long> element, Context context, Collector<String> out)
                throws Exception {
            if (isSlow && !hasFailed) {
                Thread.sleep(++seen < QUICK_ELEMENTS ? QUICK_MILLIS : SLOW_MILLIS);
                if (COMPLETED.get() >= CHECKPOINTS_BEFORE_THE_FAILURE) {
                    hasFailed = true;
                    throw new IllegalStateException("as the test wants");
                }
            }
            super.processElement(element, context, out);
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {
            counting = new HashSet<>();
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {
            if (seen > 0) {
                counting.add(context.getCheckpointId());
            }
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            if (counting.remove(checkpointId)) {
                COMPLETED.incrementAndGet();
            }
        }
    }

    /** One instance. */
    private static final class Lines extends RichSinkFunction<String>
            implements CheckpointedFunction {
        private static final long serialVersionUID = 1L;
        private final List<String> lines = new ArrayList<>();
        private transient ListState<String> state;

        @Override
        public void invoke(String line, Context context) {
            lines.add(line);
        }

        @Override
        public void finish() {
            OUTPUTS.addAll(lines);
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) throws Exception {
            state.update(lines);
        }

        @Override
        public void initializeState(FunctionInitializationContext context) throws Exception {
            state =
                    context.getOperatorStateStore()
                            .getListState(new ListStateDescriptor<>("lines", String.class));
            for (String line : state.get()) {
                lines.add(line);
            }
        }
    }
}
