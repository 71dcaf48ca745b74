package io.afterbay.spark.model;

import io.afterbay.spark.model.Entry.State;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Executors that are processes of their own: each has a partition, and publishes its state files.
 * One that dies is replaced at once, by one that knows nothing.
 *
 * @param waiting written on an executor, and not published
 * @param unreported published, and the driver has not heard of it
 * @param known to the driver as published
 */
record Executors(Set<State> waiting, Set<State> unreported, Set<State> known) {

    static Executors none() {
        return new Executors(Set.of(), Set.of(), Set.of());
    }

    Executors written(State state) {
        return new Executors(plus(waiting, Set.of(state)), unreported, known);
    }

    Executors published(State state) {
        Set<State> left = new HashSet<>(waiting);
        left.remove(state);
        return new Executors(left, plus(unreported, Set.of(state)), known);
    }

    /** The report of one executor. */
    Executors reported(int partition, boolean hasWaiting) {
        Set<State> said = of(partition, unreported);
        if (hasWaiting) {
            said = plus(said, of(partition, waiting));
        }
        return new Executors(waiting, without(partition, unreported), plus(known, said));
    }

    boolean hasNews(int partition, boolean saysWaiting) {
        return !of(partition, unreported).isEmpty()
                || (saysWaiting && !known.containsAll(of(partition, waiting)));
    }

    Executors died(int partition) {
        return new Executors(without(partition, waiting), without(partition, unreported), known);
    }

    /** What one executor has that is not published. */
    Set<State> waiting(int partition) {
        return of(partition, waiting);
    }

    /** Whether a live executor will publish or report it. */
    boolean hold(State state) {
        return waiting.contains(state) || unreported.contains(state);
    }

    private static Set<State> of(int partition, Set<State> states) {
        return states.stream().filter(s -> s.partition() == partition).collect(Collectors.toSet());
    }

    private static Set<State> without(int partition, Set<State> states) {
        return states.stream().filter(s -> s.partition() != partition).collect(Collectors.toSet());
    }

    private static Set<State> plus(Set<State> states, Set<State> more) {
        Set<State> result = new HashSet<>(states);
        result.addAll(more);
        return result;
    }
}
