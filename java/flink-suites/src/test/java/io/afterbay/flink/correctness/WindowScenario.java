package io.afterbay.flink.correctness;

import java.time.Duration;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.GlobalWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.evictors.CountEvictor;
import org.apache.flink.streaming.api.windowing.evictors.Evictor;
import org.apache.flink.streaming.api.windowing.evictors.TimeEvictor;
import org.apache.flink.streaming.api.windowing.triggers.ContinuousEventTimeTrigger;
import org.apache.flink.streaming.api.windowing.triggers.CountTrigger;
import org.apache.flink.streaming.api.windowing.triggers.EventTimeTrigger;
import org.apache.flink.streaming.api.windowing.triggers.PurgingTrigger;
import org.apache.flink.streaming.api.windowing.triggers.Trigger;
import org.apache.flink.streaming.api.windowing.windows.Window;
import org.apache.flink.streaming.runtime.operators.windowing.WindowOperatorBuilder;
import org.apache.flink.util.Collector;

/** Window operators that read a window more than once, or not at all, or merge it. */
enum WindowScenario {
    TUMBLING(
            TumblingEventTimeWindows.of(Duration.ofMillis(100)),
            EventTimeTrigger.create(),
            0,
            null),
    TUMBLING_LATE(
            TumblingEventTimeWindows.of(Duration.ofMillis(100)),
            EventTimeTrigger.create(),
            150,
            null),
    SLIDING(
            SlidingEventTimeWindows.of(Duration.ofMillis(100), Duration.ofMillis(30)),
            EventTimeTrigger.create(),
            50,
            null),
    SESSIONS(
            EventTimeSessionWindows.withGap(Duration.ofMillis(60)),
            EventTimeTrigger.create(),
            0,
            null),
    SESSIONS_LATE(
            EventTimeSessionWindows.withGap(Duration.ofMillis(60)),
            EventTimeTrigger.create(),
            200,
            null),
    SESSIONS_EARLY(
            EventTimeSessionWindows.withGap(Duration.ofMillis(60)),
            ContinuousEventTimeTrigger.of(Duration.ofMillis(40)),
            0,
            null),
    SESSIONS_PURGING(
            EventTimeSessionWindows.withGap(Duration.ofMillis(60)),
            PurgingTrigger.of(CountTrigger.of(3)),
            0,
            null),
    EARLY(
            TumblingEventTimeWindows.of(Duration.ofMillis(200)),
            ContinuousEventTimeTrigger.of(Duration.ofMillis(50)),
            100,
            null),
    COUNT_WITHIN_TIME(
            TumblingEventTimeWindows.of(Duration.ofMillis(200)), CountTrigger.of(3), 0, null),
    COUNT(GlobalWindows.create(), CountTrigger.of(4), 0, CountEvictor.of(7)),
    COUNT_PURGING(GlobalWindows.create(), PurgingTrigger.of(CountTrigger.of(4)), 0, null),
    EVICT_COUNT(
            TumblingEventTimeWindows.of(Duration.ofMillis(200)),
            ContinuousEventTimeTrigger.of(Duration.ofMillis(50)),
            100,
            CountEvictor.of(3, true)),
    EVICT_TIME(
            EventTimeSessionWindows.withGap(Duration.ofMillis(60)),
            EventTimeTrigger.create(),
            100,
            TimeEvictor.of(Duration.ofMillis(30)));

    private final WindowAssigner<Object, ? extends Window> assigner;
    private final Trigger<?, ?> trigger;
    private final long latenessMillis;
    private final Evictor<?, ?> evictor;

    @SuppressWarnings("unchecked") // Flink's assigners accept any element
    WindowScenario(
            WindowAssigner<?, ? extends Window> assigner,
            Trigger<?, ?> trigger,
            long latenessMillis,
            Evictor<?, ?> evictor) {
        this.assigner = (WindowAssigner<Object, ? extends Window>) assigner;
        this.trigger = trigger;
        this.latenessMillis = latenessMillis;
        this.evictor = evictor;
    }

    /** Emits key, window and the elements in their order. */
    OneInputStreamOperator<Tuple2<String, Long>, String> listOperator() {
        return builder().process(new Contents());
    }

    /** Emits key, window and the sum. */
    OneInputStreamOperator<Tuple2<String, Long>, String> sumOperator() {
        return builder().reduce((a, b) -> Tuple2.of(a.f0, a.f1 + b.f1), new Contents());
    }

    boolean hasEvictor() {
        return evictor != null;
    }

    @SuppressWarnings({
        "unchecked",
        "rawtypes"
    }) // triggers and evictors fit the assigner of the same line
    private WindowOperatorBuilder<Tuple2<String, Long>, String, Window> builder() {
        WindowOperatorBuilder<Tuple2<String, Long>, String, Window> builder =
                new WindowOperatorBuilder<>(
                        (WindowAssigner) assigner,
                        (Trigger) trigger,
                        new ExecutionConfig(),
                        INPUT,
                        element -> element.f0,
                        TypeInformation.of(String.class));
        if (latenessMillis > 0) {
            builder.allowedLateness(Duration.ofMillis(latenessMillis));
        }
        if (evictor != null) {
            builder.evictor((Evictor) evictor);
        }
        return builder;
    }

    static final TypeInformation<Tuple2<String, Long>> INPUT =
            org.apache.flink.api.common.typeinfo.Types.TUPLE(
                    org.apache.flink.api.common.typeinfo.Types.STRING,
                    org.apache.flink.api.common.typeinfo.Types.LONG);

    private static final class Contents
            extends ProcessWindowFunction<Tuple2<String, Long>, String, String, Window> {
        private static final long serialVersionUID = 1L;

        @Override
        public void process(
                String key,
                Context context,
                Iterable<Tuple2<String, Long>> elements,
                Collector<String> out) {
            StringBuilder line = new StringBuilder(key + " " + context.window() + ":");
            elements.forEach(element -> line.append(' ').append(element.f1));
            out.collect(line.toString());
        }
    }
}
