package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.storm.Config;
import org.apache.storm.task.IOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task of a shared bolt: when its thread ends, and when its worker. */
@Timeout(60)
class SharedBoltTest {
    private static final int CAPACITY = 2;

    /** What the bolt does with a tuple, told by each test. */
    private interface Step {
        void execute() throws InterruptedException;
    }

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> reported = new LinkedBlockingQueue<>();
    private final CountDownLatch isAtWork = new CountDownLatch(1);
    private Step step = () -> {};

    private final SharedBolt shared = new SharedBolt(new Told(), CAPACITY);

    @SuppressWarnings("serial") // stays in this process
    private final class Told extends BaseRichBolt {
        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {}

        @Override
        public void execute(Tuple input) {
            isAtWork.countDown();
            try {
                step.execute();
            } catch (InterruptedException e) {
                events.add("interrupted");
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void cleanup() {
            events.add("cleanup");
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {}
    }

    /** Writes errors down. */
    private final class Reports implements IOutputCollector {
        @Override
        public List<Integer> emit(String stream, Collection<Tuple> anchors, List<Object> tuple) {
            return List.of();
        }

        @Override
        public void emitDirect(
                int task, String stream, Collection<Tuple> anchors, List<Object> tuple) {}

        @Override
        public void ack(Tuple input) {}

        @Override
        public void fail(Tuple input) {}

        @Override
        public void resetTimeout(Tuple input) {}

        @Override
        public void flush() {}

        @Override
        public void reportError(Throwable error) {
            reported.add(error);
        }
    }

    private static Tuple tuple() {
        return (Tuple)
                Proxy.newProxyInstance(
                        SharedBoltTest.class.getClassLoader(),
                        new Class<?>[] {Tuple.class},
                        (proxy, method, arguments) -> "words");
    }

    private void prepare(Map<String, Object> conf) {
        shared.prepare(conf, new FakeTask("shared-bolt", 1), new OutputCollector(new Reports()));
    }

    @AfterEach
    void end() {
        shared.cleanup();
    }

    /** A bolt that closes what it works with is not called meanwhile. */
    @Test
    void cleanupComesWhenTheThreadHasLeftTheBolt() throws Exception {
        step =
                () -> {
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        events.add("end of work");
                    }
                };
        prepare(Map.of());
        shared.execute(tuple());
        isAtWork.await();
        shared.cleanup();
        assertThat(events).containsExactly("end of work", "interrupted", "cleanup");
        assertThat(reported).as("the end of a worker is no error").isEmpty();
    }

    @Test
    void whatWaitsAtTheEndIsLeftToStormsTimeout() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        step =
                () -> {
                    events.add("tuple");
                    awaitWhateverComes(goOn);
                };
        prepare(Map.of());
        shared.execute(tuple());
        isAtWork.await();
        shared.execute(tuple());
        Thread storm = new Thread(shared::cleanup);
        storm.start();
        assertThatThrownBy(this::executeForEver)
                .as("the queue is closed")
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).as("as Storm expects").isTrue();
        goOn.countDown();
        storm.join();
        assertThat(events).containsExactly("tuple", "cleanup");
    }

    /** For code that cares for no interruption. */
    private static void awaitWhateverComes(CountDownLatch latch) {
        boolean isOver = false;
        while (!isOver) {
            try {
                latch.await();
                isOver = true;
            } catch (InterruptedException e) {
                Thread.interrupted();
            }
        }
    }

    @Test
    void anErrorEndsTheWorker() throws Exception {
        ArithmeticException cause = new ArithmeticException("of the bolt");
        step =
                () -> {
                    throw cause;
                };
        assertThatTheWorkerEnds();
        assertThat(reported).containsExactly(cause);
    }

    /** The thread would be gone, and nobody would take what waits. */
    @Test
    void soDoesABoltThatLeavesItsThreadInterrupted() throws Exception {
        step = () -> Thread.currentThread().interrupt();
        assertThatTheWorkerEnds();
        assertThat(reported).hasOnlyElementsOfType(InterruptedException.class);
    }

    private void assertThatTheWorkerEnds() throws InterruptedException {
        prepare(Map.of());
        assertThatThrownBy(this::executeForEver)
                .hasMessageContaining("a task of the same bolt has failed");
        Throwable error = reported.poll(60, TimeUnit.SECONDS);
        assertThat(error).isNotNull();
        reported.add(error);
    }

    private void executeForEver() {
        while (true) {
            shared.execute(tuple());
        }
    }

    /** STORM-3646: nobody would send what this thread has collected. */
    @Test
    void batchesAreRefusedWithTheWayOut() {
        for (String size :
                List.of(Config.TOPOLOGY_PRODUCER_BATCH_SIZE, Config.TOPOLOGY_TRANSFER_BATCH_SIZE)) {
            assertThatThrownBy(() -> prepare(Map.of(size, 100)))
                    .hasMessageContaining("bolt 'first': " + size + " is 100")
                    .hasMessageContaining("set it to 1");
        }
        prepare(Map.of(Config.TOPOLOGY_TRANSFER_BATCH_SIZE, 1));
    }
}
