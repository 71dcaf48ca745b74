package io.afterbay.stragglers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.afterbay.testing.Await;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedQueueTest {
    private final SharedQueue<String> queue = new SharedQueue<>(2);
    private final SharedQueue<String>.Lane first = queue.join(2);
    private final SharedQueue<String>.Lane second = queue.join(2);

    /** A call in a thread of its own, which has begun to wait. */
    private static final class Waiting<T> {
        final Thread thread;
        private final FutureTask<T> result;

        Waiting(Callable<T> call) throws Exception {
            result = new FutureTask<>(call);
            thread = new Thread(result);
            thread.setDaemon(true);
            thread.start();
            Await.until("a thread that waits", () -> thread.getState() == Thread.State.WAITING);
        }

        T get() throws Exception {
            return result.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void isInOrder() {
        assertThat(queue.offer("a")).isTrue();
        assertThat(queue.offer("b")).isTrue();
        assertThat(queue.size()).isEqualTo(2);
        assertThat(second.poll()).isEqualTo("a");
        assertThat(first.poll()).isEqualTo("b");
        assertThat(first.poll()).isNull();
    }

    @Test
    void lanesBelongToTheirOwners() {
        first.offer("a");
        first.offer("b");
        assertThat(first.size()).isEqualTo(2);
        assertThat(second.poll()).isNull();
        assertThat(first.poll()).isEqualTo("a");
        assertThat(first.poll()).isEqualTo("b");
    }

    @Test
    void anOwnerTakesFromBothByTurns() {
        queue.offer("s1");
        queue.offer("s2");
        first.offer("o1");
        first.offer("o2");
        List<String> taken = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            taken.add(first.poll());
        }
        assertThat(taken).containsExactly("o1", "s1", "o2", "s2");
    }

    @Test
    void aTaskThatOthersKeepBusyStarvesNeitherLane() {
        int own = 0;
        int shared = 0;
        for (int i = 0; i < 1000; i++) {
            queue.offer("shared");
            first.offer("own");
            if (first.poll().equals("own")) {
                own++;
            } else {
                shared++;
            }
        }
        assertThat(own).isEqualTo(500);
        assertThat(shared).isEqualTo(500);
    }

    @Test
    void isBounded() {
        queue.offer("a");
        queue.offer("b");
        assertThat(queue.offer("c")).isFalse();
        first.offer("a");
        first.offer("b");
        assertThat(first.offer("c")).isFalse();
        assertThat(queue.size()).isEqualTo(2);
        assertThat(first.size()).isEqualTo(2);
        assertThat(second.offer("c")).isTrue();
    }

    @Test
    void whoPutsIntoAFullQueueWaits() throws Exception {
        queue.put("a");
        queue.put("b");
        Waiting<Boolean> producer = new Waiting<>(() -> queue.put("c"));
        assertThat(queue.size()).isEqualTo(2);
        assertThat(first.poll()).isEqualTo("a");
        assertThat(producer.get()).isTrue();
        assertThat(second.poll()).isEqualTo("b");
        assertThat(second.poll()).isEqualTo("c");
    }

    @Test
    void whoPutsIntoAFullLaneWaits() throws Exception {
        first.put("a");
        first.put("b");
        Waiting<Boolean> producer = new Waiting<>(() -> first.put("c"));
        assertThat(queue.put("s")).isTrue(); // the other lanes are open
        assertThat(first.poll()).isEqualTo("a");
        assertThat(producer.get()).isTrue();
    }

    @Test
    void eachPlaceReleasesOneProducer() throws Exception {
        queue.put("a");
        queue.put("b");
        Waiting<Boolean> one = new Waiting<>(() -> queue.put("c"));
        Waiting<Boolean> other = new Waiting<>(() -> queue.put("d"));
        first.poll();
        first.poll();
        assertThat(one.get()).isTrue();
        assertThat(other.get()).isTrue();
        assertThat(queue.size()).isEqualTo(2);
    }

    @Test
    void whoTakesFromAnEmptyQueueWaits() throws Exception {
        Waiting<String> one = new Waiting<>(first::take);
        Waiting<String> other = new Waiting<>(second::take);
        queue.put("a"); // to who waits for longest
        assertThat(one.get()).isEqualTo("a");
        queue.put("b");
        assertThat(other.get()).isEqualTo("b");
    }

    @Test
    void whatIsOwnWakesItsOwner() throws Exception {
        Waiting<String> one = new Waiting<>(first::take);
        Waiting<String> other = new Waiting<>(second::take);
        second.put("own");
        assertThat(other.get()).isEqualTo("own");
        queue.put("shared");
        assertThat(one.get()).isEqualTo("shared");
    }

    @Test
    void twoThatComeTogetherWakeTwo() throws Exception {
        Waiting<String> one = new Waiting<>(first::take);
        Waiting<String> other = new Waiting<>(second::take);
        queue.put("a");
        queue.put("b");
        assertThat(List.of(one.get(), other.get())).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void whatAWokenOwnerLeavesGoesToAnother() throws Exception {
        Waiting<String> one = new Waiting<>(first::take);
        Waiting<String> other = new Waiting<>(second::take);
        queue.lock.lock();
        queue.offer("shared"); // wakes the first,
        first.offer("own"); // which finds this before
        queue.lock.unlock();
        assertThat(one.get()).isEqualTo("own");
        assertThat(other.get()).isEqualTo("shared");
    }

    private void drain() {
        while (first.poll() != null || second.poll() != null) {}
    }

    @Test
    void closingReleasesEverybody() throws Exception {
        Waiting<String> consumer = new Waiting<>(second::take);
        first.put("a");
        first.put("b");
        Waiting<Boolean> owner = new Waiting<>(() -> first.put("c"));
        queue.close();
        assertThat(consumer.get()).isNull();
        assertThat(owner.get()).isFalse();
        SharedQueue<String> full = new SharedQueue<>(1);
        full.put("a");
        Waiting<Boolean> one = new Waiting<>(() -> full.put("b"));
        Waiting<Boolean> other = new Waiting<>(() -> full.put("c"));
        full.close();
        assertThat(one.get()).isFalse();
        assertThat(other.get()).isFalse();
        assertThat(full.size()).isEqualTo(1);
    }

    @Test
    void whatWasPutBeforeClosingIsTaken() throws Exception {
        queue.put("a");
        first.put("own");
        queue.close();
        queue.close();
        assertThat(queue.put("b")).isFalse();
        assertThat(queue.offer("b")).isFalse();
        assertThat(first.put("b")).isFalse();
        assertThat(first.offer("b")).isFalse();
        assertThat(second.take()).isEqualTo("a");
        assertThat(second.take()).isNull();
        assertThat(first.take()).isEqualTo("own");
        assertThat(first.take()).isNull();
        assertThat(queue.join(1).take()).isNull();
    }

    @Test
    void whatWasMeantForAnInterruptedOwnerGoesToAnother() throws Exception {
        for (int i = 0; i < 20; i++) {
            Waiting<String> one = new Waiting<>(first::take);
            Waiting<String> other = new Waiting<>(second::take);
            queue.lock.lock();
            one.thread.interrupt();
            Await.until("an interruption that is seen", () -> !one.thread.isInterrupted());
            queue.offer("a"); // to the first, which waits for longest
            queue.lock.unlock();
            assertThatThrownBy(one::get).hasCauseInstanceOf(InterruptedException.class);
            assertThat(other.get()).isEqualTo("a");
        }
    }

    @Test
    void anInterruptedProducerHasPutNothing() throws Exception {
        queue.put("a");
        queue.put("b");
        Waiting<Boolean> producer = new Waiting<>(() -> queue.put("c"));
        producer.thread.interrupt();
        assertThatThrownBy(producer::get).hasCauseInstanceOf(InterruptedException.class);
        drain();
        assertThat(queue.size()).isZero();
    }

    @Test
    void whoNeedNotWaitAllocatesNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        putAndTake(50_000);
        long before = threads.getThreadAllocatedBytes(self);
        putAndTake(50_000);
        long bytes = threads.getThreadAllocatedBytes(self) - before;
        assertThat(bytes).as("bytes for 100,000 elements").isLessThan(50_000);
    }

    private void putAndTake(int rounds) throws InterruptedException {
        for (int i = 0; i < rounds; i++) {
            queue.put("a");
            first.put("b");
            first.take();
            first.take();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, SharedQueue.CAPACITY_MAX + 1})
    void refusesOtherCapacities(int capacity) {
        assertThatThrownBy(() -> new SharedQueue<>(capacity))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1..1048576")
                .hasMessageContaining("" + capacity);
        assertThatThrownBy(() -> queue.join(capacity)).isInstanceOf(IllegalArgumentException.class);
    }
}
