package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LongTasksTest {
    private final Queue<Runnable> begun = new ArrayDeque<>();
    private final LongTasks tasks = new LongTasks(2, begun::add);

    @Test
    void hasSoManyPlaces() {
        assertThat(tasks.tryEnter()).isTrue();
        assertThat(tasks.tryEnter()).isTrue();
        assertThat(tasks.tryEnter()).isFalse();
        tasks.leave();
        assertThat(tasks.tryEnter()).isTrue();
    }

    @Test
    void aTaskGivesItsPlaceBackHoweverItEnds() {
        tasks.tryEnter();
        tasks.tryEnter();
        tasks.run(() -> {});
        tasks.run(
                () -> {
                    throw new IllegalStateException("failed");
                });
        assertThat(tasks.tryEnter()).as("until they have ended").isFalse();
        begun.remove().run();
        assertThat(tasks.tryEnter()).isTrue();
        assertThatThrownBy(begun.remove()::run).hasMessage("failed");
        assertThat(tasks.tryEnter()).isTrue();
    }

    @Test
    void thoseOfTheProcessRunInThreadsOfTheirOwn() throws Exception {
        LongTasks ofProcess = LongTasks.ofProcess();
        assertThat(ofProcess.tryEnter()).isTrue();
        CountDownLatch ran = new CountDownLatch(1);
        Thread[] thread = new Thread[1];
        ofProcess.run(
                () -> {
                    thread[0] = Thread.currentThread();
                    ran.countDown();
                });
        ran.await();
        assertThat(thread[0]).isNotSameAs(Thread.currentThread());
        assertThat(thread[0].isDaemon()).isTrue();
        assertThat(thread[0].getName()).startsWith("afterbay-maintenance-");
    }
}
