package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What each way to choose tasks must do. */
abstract class TaskChooserContract {
    final ManualClock clock = new ManualClock();

    abstract TaskChooser open(long seed);

    private TaskChooser among(int... tasks) {
        TaskChooser chooser = open(1);
        chooser.setTasks(tasks);
        return chooser;
    }

    /** Sends so many tuples one after the other, a millisecond each; how many went to each task. */
    private int[] counts(TaskChooser chooser, int tuples) {
        int[] counts = new int[100];
        for (int i = 0; i < tuples; i++) {
            counts[send(chooser)]++;
        }
        return counts;
    }

    private int send(TaskChooser chooser) {
        int task = chooser.choose();
        chooser.sent(task);
        clock.advance(MILLIS);
        chooser.completed(task, MILLIS);
        return task;
    }

    @Test
    void thereIsNothingToChooseFromNoTasks() {
        assertThat(open(1).choose()).isEqualTo(TaskChooser.NO_TASK);
        assertThat(open(1).chooseOther(3)).isEqualTo(TaskChooser.NO_TASK);
        TaskChooser emptied = among(1, 2);
        emptied.setTasks();
        assertThat(emptied.choose()).isEqualTo(TaskChooser.NO_TASK);
    }

    @Test
    void oneTaskGetsAll() {
        TaskChooser chooser = among(7);
        assertThat(counts(chooser, 100)[7]).isEqualTo(100);
        assertThat(chooser.chooseOther(7)).isEqualTo(7);
        assertThat(chooser.chooseOther(8)).isEqualTo(7);
    }

    @Test
    void equalTasksGetEqualShares() {
        int[] counts = counts(among(30, 10, 20, 40), 40_000);
        for (int task = 10; task <= 40; task += 10) {
            assertThat(counts[task]).isBetween(9_500, 10_500);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 20, 30})
    void anotherTaskIsNeverTheAvoidedOne(int avoided) {
        TaskChooser chooser = among(10, 20, 30);
        int[] counts = new int[100];
        for (int i = 0; i < 30_000; i++) {
            counts[chooser.chooseOther(avoided)]++;
        }
        for (int task = 10; task <= 30; task += 10) {
            if (task == avoided) {
                assertThat(counts[task]).isZero();
            } else {
                assertThat(counts[task]).isBetween(14_000, 16_000);
            }
        }
    }

    @Test
    void ofTwoTasksTheOtherOneIsLeft() {
        TaskChooser chooser = among(10, 20);
        for (int i = 0; i < 100; i++) {
            assertThat(chooser.chooseOther(10)).isEqualTo(20);
            assertThat(chooser.chooseOther(20)).isEqualTo(10);
        }
    }

    @Test
    void avoidingWhatIsNotThereChangesNothing() {
        TaskChooser one = among(10, 20, 30);
        TaskChooser other = among(10, 20, 30);
        for (int i = 0; i < 1000; i++) {
            assertThat(one.chooseOther(15)).isEqualTo(other.choose());
        }
    }

    @Test
    void aTaskThatIsRemovedGetsNothing() {
        TaskChooser chooser = among(10, 20, 30);
        counts(chooser, 1000);
        chooser.setTasks(30, 10);
        int[] counts = counts(chooser, 20_000);
        assertThat(counts[20]).isZero();
        assertThat(counts[10]).isBetween(9_500, 10_500);
    }

    @Test
    void aTaskThatIsAddedGetsItsShare() {
        TaskChooser chooser = among(10, 20);
        counts(chooser, 1000);
        chooser.setTasks(20, 5, 10);
        int[] counts = counts(chooser, 30_000);
        assertThat(counts[5]).isBetween(9_500, 10_500);
    }

    @Test
    void feedbackAboutStrangersIsIgnored() {
        TaskChooser chooser = among(10, 20);
        chooser.sent(99);
        chooser.completed(99, MILLIS);
        chooser.failed(99);
        chooser.completed(-1, MILLIS);
        assertThat(counts(chooser, 100)[99]).isZero();
    }

    @Test
    void theSameSeedMakesTheSameChoices() {
        assertThat(choices(1)).isEqualTo(choices(1)).isNotEqualTo(choices(2));
    }

    private List<Integer> choices(long seed) {
        clock.now = 0;
        TaskChooser chooser = open(seed);
        chooser.setTasks(1, 2, 3, 4);
        return IntStream.range(0, 200).mapToObj(i -> send(chooser)).toList();
    }

    @Test
    void refusesIdsThatAreNegativeOrTwice() {
        assertThatThrownBy(() -> among(1, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[1, -1]");
        assertThatThrownBy(() -> among(1, 2, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bearsAnyClockAndAnyLatency() {
        TaskChooser chooser = among(10, 20, 30);
        long[] times = {0, Long.MAX_VALUE, Long.MIN_VALUE, -1, 3 * SECONDS, 3 * SECONDS, SECONDS};
        long[] latencies = {0, Long.MAX_VALUE, Long.MIN_VALUE, -1, MILLIS};
        for (int i = 0; i < 10_000; i++) {
            int task = chooser.choose();
            assertThat(task).isIn(10, 20, 30);
            chooser.sent(task);
            clock.now = times[i % times.length];
            if (i % 3 == 0) {
                chooser.failed(task);
            } else {
                chooser.completed(task, latencies[i % latencies.length]);
            }
        }
    }

    @Test
    void whatIsDoneForEachTupleAllocatesNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        TaskChooser chooser = among(10, 20, 30, 40);
        useWithoutLambdas(chooser, 50_000);
        long before = threads.getThreadAllocatedBytes(self);
        useWithoutLambdas(chooser, 50_000);
        long bytes = threads.getThreadAllocatedBytes(self) - before;
        assertThat(bytes).as("bytes for 50,000 tuples").isLessThan(50_000);
    }

    private void useWithoutLambdas(TaskChooser chooser, int tuples) {
        for (int i = 0; i < tuples; i++) {
            clock.now += 1000;
            int task = chooser.choose();
            chooser.sent(task);
            chooser.completed(task, 1000);
            int other = chooser.chooseOther(task);
            chooser.sent(other);
            chooser.failed(other);
        }
    }

    @Test
    void threadsMayShareOne() throws Exception {
        TaskChooser chooser = among(10, 20, 30, 40);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                done.add(threads.submit(rounds(chooser, 30_000)));
            }
            for (int i = 0; i < 3_000; i++) {
                clock.now += MILLIS;
                chooser.setTasks(i % 2 == 0 ? new int[] {10, 20, 30} : new int[] {10, 20, 30, 40});
            }
            for (Future<?> each : done) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(chooser.choose()).isIn(10, 20, 30, 40);
    }

    private static Callable<Void> rounds(TaskChooser chooser, int tuples) {
        return () -> {
            for (int i = 0; i < tuples; i++) {
                int task = chooser.choose();
                assertThat(task).isIn(10, 20, 30, 40);
                chooser.sent(task);
                chooser.completed(task, 1000);
            }
            return null;
        };
    }
}
