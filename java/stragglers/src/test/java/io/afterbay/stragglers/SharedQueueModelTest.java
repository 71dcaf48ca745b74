package io.afterbay.stragglers;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.TestForm;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/** Random calls beside plain lists, by one thread and by several. */
class SharedQueueModelTest {
    private static final int CALLS = 300;
    private static final int ELEMENTS_OF_A_PRODUCER = 2_000;
    private static final int SHARED = -1;

    /**
     * @param number counts up in each lane of each producer
     * @param lane the task that it is for, or {@link #SHARED}
     */
    private record Element(int producer, int number, int lane) {}

    @Property(tries = TestForm.STRAGGLER_MODEL_TRIES, seed = TestForm.SEED)
    void agreesWithTheModel(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 5) int capacity,
            @ForAll @IntRange(min = 1, max = 4) int tasks) {
        new Run(seed, capacity, tasks).run();
    }

    @Property(tries = TestForm.STRAGGLER_MODEL_TRIES_LONG)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void agreesWithTheModelInManyTries(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 5) int capacity,
            @ForAll @IntRange(min = 1, max = 4) int tasks) {
        new Run(seed, capacity, tasks).run();
    }

    /** A queue and its model: a list for each lane, and which of them is next. */
    private static final class Run {
        private final SplittableRandom random;
        private final int capacity;
        private final SharedQueue<Integer> queue;
        private final List<SharedQueue<Integer>.Lane> lanes = new ArrayList<>();
        private final Queue<Integer> shared = new ArrayDeque<>();
        private final List<Queue<Integer>> own = new ArrayList<>();
        private final boolean[] wasOwn;
        private boolean isClosed;

        Run(long seed, int capacity, int tasks) {
            this.random = new SplittableRandom(seed);
            this.capacity = capacity;
            this.queue = new SharedQueue<>(capacity);
            this.wasOwn = new boolean[tasks];
            for (int i = 0; i < tasks; i++) {
                lanes.add(queue.join(capacity));
                own.add(new ArrayDeque<>());
            }
        }

        void run() {
            for (int i = 0; i < CALLS; i++) {
                int task = random.nextInt(lanes.size());
                switch (random.nextInt(CALLS / 2) == 0 ? 3 : random.nextInt(3)) {
                    case 0 -> assertThat(queue.offer(i)).isEqualTo(offer(shared, i));
                    case 1 ->
                            assertThat(lanes.get(task).offer(i)).isEqualTo(offer(own.get(task), i));
                    case 2 -> assertThat(lanes.get(task).poll()).isEqualTo(poll(task));
                    default -> close();
                }
                assertThat(queue.size()).isEqualTo(shared.size());
                assertThat(lanes.get(task).size()).isEqualTo(own.get(task).size());
            }
        }

        private void close() {
            queue.close();
            isClosed = true;
        }

        private boolean offer(Queue<Integer> model, int element) {
            return !isClosed && model.size() < capacity && model.add(element);
        }

        private Integer poll(int task) {
            boolean isOwn = !own.get(task).isEmpty() && (!wasOwn[task] || shared.isEmpty());
            wasOwn[task] = isOwn;
            return isOwn ? own.get(task).poll() : shared.poll();
        }
    }

    @Property(
            tries = TestForm.QUEUE_THREADS_TRIES,
            seed = TestForm.SEED,
            shrinking = ShrinkingMode.OFF)
    void losesAndDoublesNothingBetweenThreads(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 20) int capacity,
            @ForAll @IntRange(min = 1, max = 4) int producers,
            @ForAll @IntRange(min = 1, max = 4) int tasks)
            throws Exception {
        new Crowd(seed, capacity, producers, tasks).run();
    }

    @Property(tries = TestForm.QUEUE_THREADS_TRIES_LONG, shrinking = ShrinkingMode.OFF)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void losesAndDoublesNothingBetweenThreadsInManyTries(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 20) int capacity,
            @ForAll @IntRange(min = 1, max = 4) int producers,
            @ForAll @IntRange(min = 1, max = 4) int tasks)
            throws Exception {
        new Crowd(seed, capacity, producers, tasks).run();
    }

    /** Producers that put by random lanes, and owners that take. */
    private static final class Crowd {
        private final SplittableRandom random;
        private final int producers;
        private final SharedQueue<Element> queue;
        private final List<SharedQueue<Element>.Lane> lanes = new ArrayList<>();

        Crowd(long seed, int capacity, int producers, int tasks) {
            this.random = new SplittableRandom(seed);
            this.producers = producers;
            this.queue = new SharedQueue<>(capacity);
            for (int i = 0; i < tasks; i++) {
                lanes.add(queue.join(capacity));
            }
        }

        void run() throws Exception {
            ExecutorService threads = Executors.newCachedThreadPool();
            try {
                List<Future<List<Element>>> taken = new ArrayList<>();
                for (SharedQueue<Element>.Lane lane : lanes) {
                    taken.add(threads.submit(owner(lane, random.split())));
                }
                List<Future<Integer>> put = new ArrayList<>();
                for (int producer = 0; producer < producers; producer++) {
                    put.add(threads.submit(producer(producer, random.split())));
                }
                for (Future<Integer> each : put) {
                    assertThat(each.get(1, TimeUnit.MINUTES)).isEqualTo(ELEMENTS_OF_A_PRODUCER);
                }
                queue.close();
                check(taken);
            } finally {
                threads.shutdownNow();
            }
        }

        private Callable<Integer> producer(int producer, SplittableRandom mine) {
            return () -> {
                int count = 0;
                for (int number = 0; number < ELEMENTS_OF_A_PRODUCER; number++) {
                    int lane = mine.nextInt(4) > 0 ? SHARED : mine.nextInt(lanes.size());
                    Element element = new Element(producer, number, lane);
                    boolean isIn =
                            lane == SHARED ? queue.put(element) : lanes.get(lane).put(element);
                    count += isIn ? 1 : 0;
                }
                return count;
            };
        }

        private Callable<List<Element>> owner(
                SharedQueue<Element>.Lane lane, SplittableRandom mine) {
            return () -> {
                List<Element> taken = new ArrayList<>();
                for (; ; ) {
                    Element element = mine.nextBoolean() ? lane.poll() : null;
                    element = element == null ? lane.take() : element;
                    if (element == null) {
                        return taken;
                    }
                    taken.add(element);
                }
            };
        }

        private void check(List<Future<List<Element>>> taken) throws Exception {
            Set<Element> all = new HashSet<>();
            for (int task = 0; task < lanes.size(); task++) {
                int[][] last = new int[producers][2];
                for (Element element : taken.get(task).get(1, TimeUnit.MINUTES)) {
                    assertThat(all.add(element)).as("%s is new", element).isTrue();
                    assertThat(element.lane).isIn(SHARED, task);
                    int kind = element.lane == SHARED ? 0 : 1;
                    assertThat(element.number + 1).isGreaterThan(last[element.producer][kind]);
                    last[element.producer][kind] = element.number + 1;
                }
            }
            assertThat(all).hasSize(producers * ELEMENTS_OF_A_PRODUCER);
        }
    }
}
