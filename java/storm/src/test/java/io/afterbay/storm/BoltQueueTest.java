package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.storm.BoltQueue.Work;
import io.afterbay.stragglers.SharedQueue;
import java.lang.reflect.Proxy;
import org.apache.storm.tuple.Tuple;
import org.junit.jupiter.api.Test;

class BoltQueueTest {
    private final BoltQueue queue = new BoltQueue(2);
    private final SharedQueue<Work>.Lane lane = queue.join();

    /** Nothing asks it for anything. */
    private static Tuple tuple() {
        return (Tuple)
                Proxy.newProxyInstance(
                        BoltQueueTest.class.getClassLoader(),
                        new Class<?>[] {Tuple.class},
                        (proxy, method, arguments) -> null);
    }

    @Test
    void countsWhatAnotherTaskTakes() throws Exception {
        queue.put(new Work(tuple(), 1));
        queue.put(new Work(tuple(), 2));
        assertThat(queue.size()).isEqualTo(2);
        queue.taken(lane.take(), 1);
        queue.taken(lane.take(), 1);
        assertThat(queue.moved()).isEqualTo(1);
    }

    /** Else the words of a bolt that has failed would wait for ever, and nobody would know why. */
    @Test
    void afterAFailureNobodyMayPut() {
        IllegalStateException cause = new IllegalStateException("of the bolt");
        queue.fail(cause);
        assertThatThrownBy(() -> queue.put(new Work(tuple(), 1))).hasCause(cause);
        assertThatThrownBy(() -> queue.put(lane, new Work(tuple(), 1))).hasCause(cause);
    }

    @Test
    void atTheEndOfAWorkerWhoPutsIsInterrupted() {
        queue.close();
        assertThatThrownBy(() -> queue.put(new Work(tuple(), 1)))
                .isInstanceOf(InterruptedException.class);
    }
}
