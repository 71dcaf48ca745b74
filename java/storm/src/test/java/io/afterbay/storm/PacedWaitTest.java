package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.storm.Config;
import org.apache.storm.policy.IWaitStrategy;
import org.apache.storm.policy.IWaitStrategy.WaitSituation;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** How Storm's threads wait: those of bolts whose times are known, and others. */
@Timeout(60)
class PacedWaitTest {
    /** Storm's three ways to wait, one of each, so that its counter stays at two. */
    private static final Map<String, Object> CONF =
            Map.of(
                    Config.TOPOLOGY_BOLT_WAIT_PROGRESSIVE_LEVEL1_COUNT, 1,
                    Config.TOPOLOGY_BOLT_WAIT_PROGRESSIVE_LEVEL2_COUNT, 1,
                    Config.TOPOLOGY_BOLT_WAIT_PROGRESSIVE_LEVEL3_SLEEP_MILLIS, 0);

    static final int LOOKS = 5;
    private static final long TUPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int LONG = 1_000_000;

    /**
     * What the counter is after {@value #LOOKS} looks in vain, in a thread of its own.
     *
     * @param begin where it begins
     */
    static int counted(int begin, Runnable before) throws Exception {
        CompletableFuture<Integer> counted = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                before.run();
                                counted.complete(looks(begin));
                            } catch (Throwable e) {
                                counted.completeExceptionally(e);
                            }
                        });
        thread.start();
        return counted.get();
    }

    private static int looks(int begin) throws InterruptedException {
        IWaitStrategy wait = new PacedWait();
        wait.prepare(CONF, WaitSituation.BOLT_WAIT);
        int times = begin;
        for (int i = 0; i < LOOKS; i++) {
            times = wait.idle(times);
        }
        return times;
    }

    @Test
    void threadsOfOtherBoltsWaitAsByStorm() throws Exception {
        assertThat(counted(0, () -> {})).isEqualTo(2);
    }

    @Test
    void aThreadWhoseBoltsTimeIsKnownWaitsByIt() throws Exception {
        LongSupplier tupleNanos = () -> TUPLE_NANOS;
        assertThat(counted(0, () -> PacedWait.follow(tupleNanos))).isEqualTo(LOOKS);
    }

    @ParameterizedTest
    @MethodSource("bolts")
    void sharedBoltsAndThoseBehindAReplayedSpoutSayTheirTimes(IRichBolt bolt) throws Exception {
        FakeTask task = new FakeTask("paced", 1);
        try {
            assertThat(counted(0, () -> bolt.prepare(Map.of(), task, collector())))
                    .isEqualTo(LOOKS);
        } finally {
            bolt.cleanup();
        }
    }

    static List<IRichBolt> bolts() {
        return List.of(new SharedBolt(new Nothing(), 1), new TimedBolt(new Nothing()));
    }

    private static OutputCollector collector() {
        return new OutputCollector(
                (IOutputCollector)
                        Proxy.newProxyInstance(
                                PacedWaitTest.class.getClassLoader(),
                                new Class<?>[] {IOutputCollector.class},
                                (proxy, method, arguments) -> null));
    }

    private static final class Nothing extends BaseRichBolt {
        private static final long serialVersionUID = 1;

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {}

        @Override
        public void execute(Tuple input) {}

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {}
    }

    private static long nanos(long tupleNanos, int times) {
        return new PacedWait.Pace(() -> tupleNanos, PacedWait.NANOS_MAX).nanos(times);
    }

    @Test
    void itLooksSixteenTimesWhileATupleIsProcessed() {
        assertThat(nanos(TUPLE_NANOS, 0)).isEqualTo(TUPLE_NANOS / 16);
    }

    @Test
    void itLooksLessAndLessOftenWhileNothingComesButOnceAMillisecond() {
        assertThat(nanos(TUPLE_NANOS, 31)).isEqualTo(TUPLE_NANOS / 16);
        assertThat(nanos(TUPLE_NANOS, 32)).isEqualTo(TUPLE_NANOS / 8);
        assertThat(nanos(TUPLE_NANOS, 100)).isEqualTo(PacedWait.NANOS_MAX);
        assertThat(nanos(1, 20 * 32)).isEqualTo(PacedWait.NANOS_MAX);
        assertThat(nanos(Long.MAX_VALUE, 20 * 32)).isEqualTo(PacedWait.NANOS_MAX);
    }

    @Test
    void itsCounterHasAnEnd() throws Exception {
        assertThat(counted(LONG, () -> PacedWait.follow(() -> TUPLE_NANOS))).isEqualTo(20 * 32);
    }

    @Test
    void nothingIsKnownBeforeTheFirstTuple() {
        assertThat(nanos(0, 0)).isEqualTo(1);
    }

    /** Tasks of a worker that has 1, 2 and 3, in the order in which one thread prepares them. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 1000000",
        "2, 1000000, 16000000",
        "1:2, 1, 1000000",
        "2:3, 1000000, 16000000",
        "2:1, 1, 1000000"
    })
    void aThreadRestsThatOnlyLooksForTicks(String tasks, long first, long last) throws Exception {
        CompletableFuture<PacedWait.Pace> pace = new CompletableFuture<>();
        List<SharedBolt> bolts = new ArrayList<>();
        Thread thread =
                new Thread(
                        () -> {
                            for (String task : tasks.split(":")) {
                                SharedBolt bolt = new SharedBolt(new TimedBolt(new Nothing()), 1);
                                bolts.add(bolt);
                                bolt.prepare(Map.of(), ofThree(task), collector());
                            }
                            pace.complete(PacedWait.pace());
                        });
        thread.setUncaughtExceptionHandler((any, e) -> pace.completeExceptionally(e));
        thread.start();
        try {
            assertThat(pace.get().nanos(0)).isEqualTo(first);
            assertThat(pace.get().nanos(20 * 32)).isEqualTo(last);
        } finally {
            thread.join();
            bolts.forEach(SharedBolt::cleanup);
        }
    }

    private static FakeTask ofThree(String task) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setBolt("rests", StragglerPieces.shared(new Nothing()), 3)
                .customGrouping("events", StragglerPieces.sharedShuffle());
        List<Integer> tasks = List.of(1, 2, 3);
        return FakeTask.among(
                builder.createTopology(), "rests", tasks, tasks, Integer.parseInt(task));
    }
}
