package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two tasks of a shared bolt in one worker: what either may do, and what one of them must. */
@Timeout(60)
class SharedTasksTest {
    private static final String HOLD = "hold";

    private final BlockingQueue<Integer> held = new LinkedBlockingQueue<>();
    private final BlockingQueue<Done> done = new LinkedBlockingQueue<>();
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final FakeTask first = new FakeTask("shared-tasks", 1);
    private final FakeTask second = new FakeTask("shared-tasks", 2);
    private final SharedBolt boltOfFirst = new SharedBolt(new Told(1), 8);
    private final SharedBolt boltOfSecond = new SharedBolt(new Told(2), 8);

    private record Done(int task, String what) {}

    /** A task that stands still with one of its tuples. */
    @SuppressWarnings("serial") // stays in this process
    private final class Told extends BaseRichBolt {
        private final int task;

        Told(int task) {
            this.task = task;
        }

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {}

        @Override
        public void execute(Tuple input) {
            String what = input.getString(0);
            if (what.equals(HOLD)) {
                held.add(task);
                awaitGoOn();
            }
            done.add(new Done(task, what));
        }

        private void awaitGoOn() {
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {}
    }

    private static Tuple tuple(String stream, String component, String what) {
        return (Tuple)
                Proxy.newProxyInstance(
                        SharedTasksTest.class.getClassLoader(),
                        new Class<?>[] {Tuple.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "getSourceStreamId" -> stream;
                                    case "getSourceComponent" -> component;
                                    default -> what;
                                });
    }

    private static Tuple word(String what) {
        return tuple("default", "words", what);
    }

    private static OutputCollector nobody() {
        return new OutputCollector(
                (IOutputCollector)
                        Proxy.newProxyInstance(
                                SharedTasksTest.class.getClassLoader(),
                                new Class<?>[] {IOutputCollector.class},
                                (proxy, method, arguments) -> null));
    }

    @BeforeEach
    void start() {
        boltOfFirst.prepare(Map.of(), first, nobody());
        boltOfSecond.prepare(Map.of(), second, nobody());
    }

    @AfterEach
    void end() {
        goOn.countDown();
        boltOfFirst.cleanup();
        boltOfSecond.cleanup();
    }

    /** Had the other task been allowed to, it would have done it before the word. */
    @ParameterizedTest
    @CsvSource({"__tick, __system", "__metrics, words", "default, __system"})
    void whatIsOfTheSystemWaitsForItsTaskAndWordsDoNot(String stream, String component)
            throws Exception {
        boltOfFirst.execute(word(HOLD));
        int busy = held.take();
        int free = busy == 1 ? 2 : 1;
        SharedBolt boltOfBusy = busy == 1 ? boltOfFirst : boltOfSecond;
        boltOfBusy.execute(tuple(stream, component, "own"));
        boltOfBusy.execute(word("word"));
        assertThat(done.take()).isEqualTo(new Done(free, "word"));
        goOn.countDown();
        assertThat(done.take()).isEqualTo(new Done(busy, HOLD));
        assertThat(done.take()).isEqualTo(new Done(busy, "own"));
        // The word, and what the first was sent and the second had.
        long moved = busy == 1 ? 1 : 2;
        assertThat(first.gauge("afterbay-shared-moved")).isEqualTo(moved);
        assertThat(second.gauge("afterbay-shared-moved")).isEqualTo(moved);
        assertThat(first.gauge("afterbay-shared-waiting")).isEqualTo(0);
        // It was held at least while the other task did a word.
        assertThat((long) first.gauge("afterbay-shared-execute-us")).isPositive();
    }
}
