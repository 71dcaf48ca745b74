package io.afterbay.flink.it.job;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.ParameterTool;

/**
 * A job whose state has every shape: a number per window, lists in aligned windows, lists in
 * windows that merge, value, map, list and reducing state with a TTL, and timers. Its output is a
 * multiset of lines that {@link LedgerReference} computes without Flink.
 *
 * <pre>
 * journal -> by account  -> tumbling 2 s, sum ------------.
 *         -> by account  -> sliding 6 s / 3 s, list -------+-> files, exactly once
 *         -> by customer -> sessions, gap 1 s, list -------+
 *         -> by account  -> states and timers -------------|
 *         -> by customer -> archive, if it is asked for ---'
 * </pre>
 */
public final class LedgerJob {
    static final long TUMBLING_MILLIS = 2_000;
    static final long SLIDING_MILLIS = 6_000;
    static final long SLIDE_MILLIS = 3_000;

    /** Odd: times are even, so no posting falls on the edge where it may or may not join. */
    static final long GAP_MILLIS = 1_001;

    private LedgerJob() {}

    /**
     * @param args {@code --output URI --partitions N --postings N --per-second N --hold-at N
     *     --release PATH --accounts-uid UID --archive-pages N --archive-page-bytes N}; those of the
     *     archive may be left out: there is none then
     */
    public static void main(String[] args) throws Exception {
        ParameterTool options = ParameterTool.fromArgs(args);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        build(env, options);
        env.execute("ledger");
    }

    private static void build(StreamExecutionEnvironment env, ParameterTool options) {
        DataStream<Posting> postings =
                env.fromSource(source(options), watermarks(), "journal").uid("journal");
        KeyedStream<Posting, Integer> accounts = postings.keyBy(p -> p.account);
        DataStream<String> sums =
                accounts.window(TumblingEventTimeWindows.of(Duration.ofMillis(TUMBLING_MILLIS)))
                        .aggregate(new Windows.Sum(), new Windows.SumLine())
                        .uid("sums");
        DataStream<String> lists =
                accounts.window(
                                SlidingEventTimeWindows.of(
                                        Duration.ofMillis(SLIDING_MILLIS),
                                        Duration.ofMillis(SLIDE_MILLIS)))
                        .process(new Windows.ListLine("list"))
                        .uid("lists");
        DataStream<String> sessions =
                postings.keyBy(p -> p.customer)
                        .window(EventTimeSessionWindows.withGap(Duration.ofMillis(GAP_MILLIS)))
                        .process(new Windows.ListLine("session"))
                        .uid("sessions");
        DataStream<String> books =
                accounts.process(new Accounts()).uid(options.get("accounts-uid", "accounts"));
        DataStream<String> lines = sums.union(lists, sessions, books);
        withArchive(lines, postings, pages(options)).sinkTo(sink(options)).uid("output");
    }

    private static DataStream<String> withArchive(
            DataStream<String> lines, DataStream<Posting> postings, Pages pages) {
        return pages.perCustomer() == 0
                ? lines
                : lines.union(
                        postings.keyBy(p -> p.customer)
                                .process(new Archive(pages))
                                .name("archive")
                                .uid("archive"));
    }

    private static Pages pages(ParameterTool options) {
        return new Pages(
                options.getInt("archive-pages", 0), options.getInt("archive-page-bytes", 0));
    }

    private static JournalSource source(ParameterTool options) {
        return new JournalSource(
                new Journal(options.getInt("partitions"), options.getInt("postings")),
                new Pace(
                        options.getInt("per-second"),
                        options.getInt("hold-at", Integer.MAX_VALUE),
                        options.get("release", "")));
    }

    private static WatermarkStrategy<Posting> watermarks() {
        return WatermarkStrategy.forBoundedOutOfOrderness(
                Duration.ofMillis(Journal.DISORDER_MILLIS));
    }

    private static FileSink<String> sink(ParameterTool options) {
        return FileSink.forRowFormat(
                        new Path(options.getRequired("output")),
                        new SimpleStringEncoder<String>("UTF-8"))
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build();
    }
}
