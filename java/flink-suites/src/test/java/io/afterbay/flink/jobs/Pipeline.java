package io.afterbay.flink.jobs;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.SinkFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * A job with every shape of state: window lists (aligned and merging), window sums, values, maps
 * and timers of a process function. Its outputs are exact: none is lost or repeated by a correct
 * restore.
 */
final class Pipeline {
    static final Queue<String> OUTPUTS = new ConcurrentLinkedQueue<>();

    private Pipeline() {}

    static void build(StreamExecutionEnvironment env, long elements) {
        lines(env, elements, new Counter()).forEach(Pipeline::collect);
    }

    /**
     * The outputs.
     *
     * @param counter a subclass of {@link Counter} may do something beside
     */
    static List<DataStream<String>> lines(
            StreamExecutionEnvironment env, long elements, Counter counter) {
        KeyedStream<Tuple2<Integer, Long>, Integer> keyed =
                env.addSource(
                                new PausingSource(elements),
                                "source",
                                Types.TUPLE(Types.INT, Types.LONG))
                        .setParallelism(1)
                        .uid("source")
                        .keyBy(element -> element.f0, Types.INT);
        return List.of(
                windowed(keyed, TumblingEventTimeWindows.of(Duration.ofMillis(500)), "tumbling"),
                windowed(keyed, EventTimeSessionWindows.withGap(Duration.ofMillis(90)), "session"),
                keyed.window(TumblingEventTimeWindows.of(Duration.ofMillis(300)))
                        .reduce((a, b) -> Tuple2.of(a.f0, a.f1 + b.f1))
                        .uid("sum")
                        .map(element -> "sum " + element)
                        .uid("sum-text"),
                keyed.process(counter).uid("process"));
    }

    private static DataStream<String> windowed(
            KeyedStream<Tuple2<Integer, Long>, Integer> keyed,
            WindowAssigner<Object, TimeWindow> windows,
            String name) {
        return keyed.window(windows).process(new Contents(name)).uid(name);
    }

    private static void collect(DataStream<String> lines) {
        lines.addSink(new Sink()).uid("sink-" + lines.getTransformation().getUid());
    }

    private static final class Sink implements SinkFunction<String> {
        private static final long serialVersionUID = 1L;

        @Override
        public void invoke(String line, Context context) {
            OUTPUTS.add(line);
        }
    }

    private static final class Contents
            extends ProcessWindowFunction<Tuple2<Integer, Long>, String, Integer, TimeWindow> {
        private static final long serialVersionUID = 1L;
        private final String name;

        Contents(String name) {
            this.name = name;
        }

        @Override
        public void process(
                Integer key,
                Context context,
                Iterable<Tuple2<Integer, Long>> elements,
                Collector<String> out) {
            StringBuilder line = new StringBuilder(name + " " + key + " " + context.window());
            elements.forEach(element -> line.append(' ').append(element.f1));
            out.collect(line.toString());
        }
    }

    /** Counts by value, remembers in a map, and reports both by a timer. */
    static class Counter extends KeyedProcessFunction<Integer, Tuple2<Integer, Long>, String> {
        private static final long serialVersionUID = 1L;
        private static final long REPORT_MILLIS = 700;
        private transient ValueState<Long> count;
        private transient MapState<Long, Long> remainders;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
            remainders =
                    getRuntimeContext()
                            .getMapState(
                                    new MapStateDescriptor<>("remainders", Long.class, Long.class));
        }

        @Override
        public void processElement(
                Tuple2<Integer, Long> element, Context context, Collector<String> out)
                throws Exception {
            Long before = count.value();
            count.update(before == null ? 1 : before + 1);
            Long same = remainders.get(element.f1 % 5);
            remainders.put(element.f1 % 5, same == null ? 1 : same + 1);
            long report = context.timestamp() / REPORT_MILLIS * REPORT_MILLIS + REPORT_MILLIS;
            context.timerService().registerEventTimeTimer(report);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
                throws Exception {
            StringBuilder line = new StringBuilder("report " + context.getCurrentKey());
            line.append(' ').append(timestamp).append(": ").append(count.value());
            for (long remainder : List.of(0L, 1L, 2L, 3L, 4L)) {
                line.append(' ').append(remainders.get(remainder));
            }
            out.collect(line.toString());
        }
    }
}
