package io.afterbay.flink.it.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Closes the books of each account every {@link #PERIOD_MILLIS} with all kinds of keyed state and a
 * timer. Nothing depends on the order of postings between two timers.
 */
final class Accounts extends KeyedProcessFunction<Integer, Posting, String> {
    static final long PERIOD_MILLIS = 3_000;

    private static final long serialVersionUID = 1;

    private transient ValueState<Long> balance;
    private transient MapState<Long, Long> periods;
    private transient ListState<Posting> open;
    private transient ReducingState<Long> largest;

    @Override
    public void open(OpenContext context) {
        balance = getRuntimeContext().getState(new ValueStateDescriptor<>("balance", Long.class));
        periods =
                getRuntimeContext()
                        .getMapState(new MapStateDescriptor<>("periods", Long.class, Long.class));
        open = getRuntimeContext().getListState(new ListStateDescriptor<>("open", Posting.class));
        ReducingStateDescriptor<Long> max =
                new ReducingStateDescriptor<>("largest", Math::max, Long.class);
        // Never expires in a test, but is stored with its time, as states with a TTL are.
        max.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofDays(10)).build());
        largest = getRuntimeContext().getReducingState(max);
    }

    @Override
    public void processElement(Posting posting, Context context, Collector<String> out)
            throws Exception {
        long end = periodEnd(posting.time);
        Long count = periods.get(end);
        periods.put(end, count == null ? 1 : count + 1);
        open.add(posting);
        largest.add(posting.amount);
        context.timerService().registerEventTimeTimer(end - 1);
    }

    static long periodEnd(long time) {
        return time - Math.floorMod(time, PERIOD_MILLIS) + PERIOD_MILLIS;
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
            throws Exception {
        long end = timestamp + 1;
        List<Posting> later = new ArrayList<>();
        long sum = 0;
        for (Posting posting : open.get()) {
            if (posting.time < end) {
                sum += posting.amount;
            } else {
                later.add(posting);
            }
        }
        open.update(later);
        Long before = balance.value();
        long now = (before == null ? 0 : before) + sum;
        balance.update(now);
        long count = periods.get(end);
        periods.remove(end);
        out.collect(line(context.getCurrentKey(), end, count, now));
        if (largest.get() == null) {
            throw new IllegalStateException("state 'largest' was lost");
        }
    }

    static String line(int account, long end, long count, long balance) {
        return "account,%d,%d,%d,%d".formatted(account, end, count, balance);
    }
}
