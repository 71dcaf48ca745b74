package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CrewTest {
    private final ExecutorService threads = Executors.newFixedThreadPool(3);

    @AfterEach
    void close() {
        threads.shutdownNow();
    }

    @Test
    void doesEachPartOnce() {
        AtomicIntegerArray done = new AtomicIntegerArray(1000);

        Crew.run(done.length(), done::incrementAndGet, threads);

        for (int i = 0; i < done.length(); i++) {
            assertThat(done.get(i)).isEqualTo(1);
        }
    }

    /** Three parts, each of which waits for the others. */
    @Test
    void partsAreDoneAtOneTime() {
        CountDownLatch begun = new CountDownLatch(3);

        Crew.run(3, part -> await(begun), threads);

        assertThat(begun.getCount()).isZero();
    }

    private static void await(CountDownLatch begun) {
        begun.countDown();
        try {
            begun.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theCallerDoesAllIfThereIsNoHelper() {
        Set<Thread> workers = ConcurrentHashMap.newKeySet();

        Crew.run(
                9,
                part -> workers.add(Thread.currentThread()),
                task -> {
                    throw new RejectedExecutionException();
                });

        assertThat(workers).containsExactly(Thread.currentThread());
    }

    @Test
    void aHelperThatComesLateIsNotWaitedForAndDoesNothing() {
        Queue<Runnable> late = new ArrayDeque<>();
        AtomicIntegerArray done = new AtomicIntegerArray(4);

        Crew.run(done.length(), done::incrementAndGet, late::add);
        late.forEach(Runnable::run);

        assertThat(late).hasSize(3);
        assertThat(done).hasToString("[1, 1, 1, 1]");
    }

    /** As when the process has too many threads: none of those that began works on. */
    @Test
    void noHelperWorksOnIfTheNextCannotStart() {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicBoolean isLate = new AtomicBoolean();
        int[] helpers = {0};

        Crew.run(
                200,
                part -> {
                    begun.countDown();
                    isLate.compareAndSet(false, isOver.get());
                },
                task -> {
                    if (helpers[0]++ > 0) {
                        await(begun);
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    threads.execute(task);
                });
        isOver.set(true);
        threads.shutdown();

        assertThat(isLate).isFalse();
        assertThat(helpers[0]).isEqualTo(2);
    }

    @Test
    void whatAHelperThrowsIsThrownWhenAllHaveStopped() {
        CountDownLatch begun = new CountDownLatch(2);
        Thread caller = Thread.currentThread();

        assertThatThrownBy(
                        () ->
                                Crew.run(
                                        2,
                                        part -> {
                                            await(begun);
                                            if (Thread.currentThread() != caller) {
                                                throw new IllegalArgumentException("helper");
                                            }
                                        },
                                        threads))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("helper");
    }

    @Test
    void anInterruptIsKeptForTheCaller() {
        Thread.currentThread().interrupt();
        AtomicIntegerArray done = new AtomicIntegerArray(50);

        Crew.run(done.length(), done::incrementAndGet, threads);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(done.get(49)).isEqualTo(1);
    }
}
