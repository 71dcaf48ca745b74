package io.afterbay.workloads.updates;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.updates.UpdateJournal.Moment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/** Reads the value of a key, and writes the next one. Emits nothing. */
final class UpdateFunction extends KeyedProcessFunction<Long, Long, Long> {
    private static final long serialVersionUID = 1;

    /** Of so many events, one is told to the journal. */
    private static final int SAMPLE = 256;

    /** What an operator that keeps up with its input is late at most. */
    private static final long LATE_MILLIS_MAX = 250;

    private final UpdateOptions options;
    private transient @Nullable ValueState<byte[]> values;
    private transient @Nullable UpdateJournal journal;
    private transient boolean caughtUp;
    private transient boolean begun;

    UpdateFunction(UpdateOptions options) {
        this.options = options;
    }

    @Override
    public void open(OpenContext context) throws IOException {
        values =
                getRuntimeContext()
                        .getState(
                                new ValueStateDescriptor<>(
                                        "value",
                                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        TaskInfo task = getRuntimeContext().getTaskInfo();
        UpdateJournal opened =
                new UpdateJournal(
                        Path.of(options.journal()),
                        task.getIndexOfThisSubtask(),
                        task.getAttemptNumber());
        opened.moment(Moment.RESTORED, EpochClock.micros());
        journal = opened;
    }

    @Override
    public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
        ValueState<byte[]> state = of(values);
        long key = context.getCurrentKey();
        byte[] before = state.value();
        long count = before == null ? 1 : UpdateValues.count(before) + 1;
        state.update(UpdateValues.of(key, count, options.valueBytes()));
        if (number % SAMPLE == 0) {
            boolean whole = before == null || UpdateValues.isWhole(before, key);
            of(journal).sample(number, count, whole);
        }
        if (!caughtUp) {
            tell(context.timestamp());
        }
    }

    private void tell(Long dueMillis) throws IOException {
        long nowMicros = EpochClock.micros();
        if (!begun) {
            begun = true;
            of(journal).moment(Moment.FIRST_EVENT, nowMicros);
        }
        if (TimeUnit.MICROSECONDS.toMillis(nowMicros) - dueMillis <= LATE_MILLIS_MAX) {
            caughtUp = true;
            of(journal).moment(Moment.CAUGHT_UP, nowMicros);
        }
    }

    private static <T> T of(@Nullable T opened) {
        if (opened == null) {
            throw new IllegalStateException("not open");
        }
        return opened;
    }

    @Override
    public void close() throws IOException {
        UpdateStatistics.of(options.run()).end();
        if (journal != null) {
            journal.close();
        }
    }
}
