package io.afterbay.handover.stragglers;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Operators without a cycle, behind a source; a tuple goes to one task of each operator that gets
 * what its predecessor sends.
 *
 * @param sources tasks of the source
 * @param stages operators, each behind those that it gets tuples from
 * @param workers processes that have the tasks
 * @param machines what the tasks of each worker share, as a model; none if they share nothing
 * @param limits of each worker's processor time, in the place of a model, for tasks that are at
 *     work and do not sleep; none if they sleep
 */
public record StragglerTopology(
        int sources, List<Stage> stages, int workers, List<Machine> machines, List<Limit> limits)
        implements Serializable {
    /** The source, as a predecessor. */
    public static final int SOURCE = -1;

    public StragglerTopology {
        stages = List.copyOf(stages);
        machines = List.copyOf(machines);
        limits = List.copyOf(limits);
        checkEach("machines", machines, workers);
        checkEach("limits", limits, workers);
        if (!machines.isEmpty() && !limits.isEmpty()) {
            throw new IllegalArgumentException("workers have a model of a machine, or a limit");
        }
    }

    private static void checkEach(String what, List<?> of, int workers) {
        if (!of.isEmpty() && of.size() != workers) {
            throw new IllegalArgumentException(
                    "%d %s for %d workers".formatted(of.size(), what, workers));
        }
    }

    /**
     * An operator.
     *
     * @param inputs stages whose tuples it gets, by their places in the list; {@link #SOURCE}
     */
    public record Stage(String name, int tasks, List<Integer> inputs) implements Serializable {
        public Stage {
            inputs = List.copyOf(inputs);
        }
    }

    /**
     * What a worker runs on, as a model: its tasks take turns on the processors.
     *
     * @param processors on which one task at a time is at work each
     * @param competitors other programs that would always like to have a processor
     */
    public record Machine(int processors, int competitors) implements Serializable {}

    /**
     * Of the processor time of a worker, by the kernel.
     *
     * @param percent of one processor
     * @param hasCompressor whether a program beside its tasks, which compresses all the time, has
     *     its part of it
     */
    public record Limit(int percent, boolean hasCompressor) implements Serializable {}

    /**
     * The way from an operator to another one.
     *
     * @param from its place in the list; {@link #SOURCE}
     */
    public record Edge(int from, int to) {}

    /** Stages one behind the other, in one worker. */
    public static StragglerTopology row(int sources, int stages, int tasks) {
        return new StragglerTopology(
                sources,
                IntStream.range(0, stages)
                        .mapToObj(i -> new Stage("stage" + i, tasks, List.of(i - 1)))
                        .toList(),
                1,
                List.of(),
                List.of());
    }

    /** The same operators on machines, with a worker on each. */
    public StragglerTopology on(List<Machine> each) {
        return new StragglerTopology(sources, stages, each.size(), each, List.of());
    }

    /** The same operators, with a worker within each of these. */
    public StragglerTopology limitedTo(List<Limit> each) {
        return new StragglerTopology(sources, stages, each.size(), List.of(), each);
    }

    /** The same operators in so many workers, whose tasks share nothing. */
    public StragglerTopology in(int workerCount) {
        return new StragglerTopology(sources, stages, workerCount, List.of(), List.of());
    }

    /** All ways, in the order of the operators that they lead to. */
    public List<Edge> edges() {
        List<Edge> edges = new ArrayList<>();
        for (int to = 0; to < stages.size(); to++) {
            for (int from : stages.get(to).inputs()) {
                edges.add(new Edge(from, to));
            }
        }
        return edges;
    }
}
