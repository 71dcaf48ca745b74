package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.windowing.ProcessAllWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Windows of a job over files of an hour each: no record of the range is late in a replay. The rate
 * is such that records come one by one.
 */
class ReplayWindowsTest {
    private static final long HOUR_MS = 3_600_000;
    private static final int HOURS = 24;
    private static final int PER_HOUR = 20;
    private static final ReplayRange DAY = new ReplayRange(0, HOURS * HOUR_MS);

    /** Of the last attempt: by the start of the window, what it had when it fired. */
    private static final Map<Long, Integer> WINDOWS = new ConcurrentHashMap<>();

    private static final AtomicLong PASSED = new AtomicLong();

    @TempDir private Path directory;
    private Path files;
    private Replaying replaying;

    @BeforeEach
    void start() throws Exception {
        WINDOWS.clear();
        PASSED.set(0);
        replaying = new Replaying(directory);
        files = Files.createDirectories(directory.resolve("files"));
        for (int hour = 0; hour < HOURS; hour++) {
            write(hour);
        }
    }

    @AfterEach
    void stop() throws Exception {
        replaying.close();
    }

    /** Its name says nothing of its hour, and its last change does. */
    private void write(int hour) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int record = 0; record < PER_HOUR; record++) {
            lines.add(Long.toString(hour * HOUR_MS + record * (HOUR_MS / PER_HOUR)));
        }
        Path file = Files.write(files.resolve("part-" + hour * 7 % HOURS), lines);
        Files.setLastModifiedTime(file, FileTime.fromMillis((hour + 1) * HOUR_MS));
    }

    private static WatermarkStrategy<String> times() {
        return WatermarkStrategy.<String>forBoundedOutOfOrderness(Duration.ofMinutes(1))
                .withTimestampAssigner((line, ms) -> Long.parseLong(line));
    }

    private static StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment env = Replaying.environment();
        env.getConfig().setAutoWatermarkInterval(1);
        return env;
    }

    private void windows(DataStream<String> lines) {
        lines.map(new Passing())
                .windowAll(TumblingEventTimeWindows.of(Duration.ofHours(1)))
                .process(new Counting())
                .sinkTo(new DiscardingSink<>());
    }

    private static void awaitPassed(long records) throws Exception {
        Await.until(() -> records + " passed, not " + PASSED, () -> PASSED.get() >= records);
    }

    private static void assertNothingWasLate() {
        Map<Long, Integer> all = new TreeMap<>();
        for (int hour = 0; hour < HOURS; hour++) {
            all.put(hour * HOUR_MS, PER_HOUR);
        }
        assertThat(new TreeMap<>(WINDOWS)).isEqualTo(all);
    }

    @Test
    void monitoredFilesAreReadAsTheyCame() throws Exception {
        StreamExecutionEnvironment env = environment();
        windows(env.fromSource(Sources.monitored(files), times(), "lines"));
        replaying.finish(replaying.replay(env.getStreamGraph(), DAY));
        assertNothingWasLate();
        assertThat(PASSED.get()).isEqualTo(HOURS * PER_HOUR);
    }

    /** Files that were given out come back all at once. */
    @Test
    void soAreThoseThatAreReadAgainAfterAFailure() throws Exception {
        StreamExecutionEnvironment env = environment();
        SingleOutputStreamOperator<String> failing =
                env.fromSource(Sources.monitored(files), times(), "lines")
                        .map(Long::parseLong)
                        .returns(Types.LONG)
                        .map(new Replaying.Passing())
                        .map(number -> Long.toString(number))
                        .returns(Types.STRING);
        windows(failing);
        replaying.control.setRate(60);
        Replaying.failAt(6 * PER_HOUR);
        JobID job = replaying.replay(env.getStreamGraph(), DAY);
        Replaying.awaitFailure();
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertNothingWasLate();
        assertThat(PASSED.get()).as("some was read again").isGreaterThan(HOURS * PER_HOUR);
    }

    /** A reader that is held back has nothing for much longer than this. */
    private static final Duration IDLE = Duration.ofMillis(1);

    private void slowlyThenFast(StreamExecutionEnvironment env) throws Exception {
        replaying.control.setRate(40);
        JobID job = replaying.replay(env.getStreamGraph(), DAY);
        awaitPassed(3 * PER_HOUR);
        replaying.control.setRate(0);
        Await.until("it has told", () -> replaying.progress().records() >= 3 * PER_HOUR);
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertNothingWasLate();
    }

    @Test
    void whoIsHeldBackIsNotIdle() throws Exception {
        StreamExecutionEnvironment env = environment();
        windows(env.fromSource(Sources.monitored(files), times().withIdleness(IDLE), "lines"));
        slowlyThenFast(env);
    }

    @Test
    void norIsTheAssignerBehindIt() throws Exception {
        StreamExecutionEnvironment env = environment();
        windows(
                env.fromSource(Sources.monitored(files), WatermarkStrategy.noWatermarks(), "lines")
                        .assignTimestampsAndWatermarks(times().withIdleness(IDLE)));
        slowlyThenFast(env);
    }

    private static final class Passing implements MapFunction<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map(String line) {
            PASSED.incrementAndGet();
            return line;
        }
    }

    private static final class Counting
            extends ProcessAllWindowFunction<String, Integer, TimeWindow> {
        private static final long serialVersionUID = 1;

        @Override
        public void open(OpenContext context) {
            WINDOWS.clear();
        }

        @Override
        public void process(Context context, Iterable<String> lines, Collector<Integer> out) {
            int count = 0;
            for (String line : lines) {
                count++;
            }
            WINDOWS.put(context.window().getStart(), count);
        }
    }
}
