package io.afterbay.flink.it;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * What happens to a job in a soak, and when: a seed decides. Every kind of event comes once before
 * one comes again.
 */
final class SoakPlan {
    private final List<Event> kinds;
    private final Random random;
    private final Deque<Event> next = new ArrayDeque<>();

    enum Event {
        /** kill -9; the process is started again, and finds what it left on disk. */
        KILL,
        /** kill -9, and the disk is lost; a process of another name takes its place. */
        LOSE,
        /** A process stands still for seconds. */
        FREEZE,
        /** Cancelled, and started from the checkpoint that is retained, which it owns then. */
        RESUME,
        /** The same with another parallelism. */
        RESCALE
    }

    SoakPlan(long seed, List<Event> kinds) {
        this.random = new Random(seed);
        this.kinds = kinds;
    }

    Event next() {
        if (next.isEmpty()) {
            List<Event> shuffled = new ArrayList<>(kinds);
            Collections.shuffle(shuffled, random);
            next.addAll(shuffled);
        }
        return next.remove();
    }

    /** A time below that one. */
    Duration below(Duration limit) {
        return Duration.ofMillis((long) (random.nextDouble() * limit.toMillis()));
    }

    <T> T oneOf(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }
}
