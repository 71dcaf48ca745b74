package io.afterbay.experiments.storm;

import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Limit;
import io.afterbay.handover.stragglers.StragglerTopology.Machine;
import java.util.List;

/**
 * What tuples usually pass in a cell.
 *
 * @param layout which bolts there are
 * @param sources tasks of the source
 * @param stages how many bolts there are
 * @param tasks numbers of tasks of a bolt
 * @param workers processes that have the tasks
 * @param machines what a worker runs on, each, as a model; none if tasks share nothing
 * @param limits of each worker's processor time; none if tasks sleep
 */
record StormShape(
        StormLayout layout,
        int sources,
        int stages,
        List<Integer> tasks,
        int workers,
        List<Machine> machines,
        List<Limit> limits) {

    /** Bolts in a row, in one worker. */
    StormShape(int sources, int stages, List<Integer> tasks) {
        this(StormLayout.ROW, sources, stages, tasks, 1, List.of(), List.of());
    }

    /** One of the paper's topologies, with five tasks of the source, in one worker. */
    static StormShape of(StormLayout layout, int tasks) {
        return new StormShape(layout, 5, layout.bolts(), List.of(tasks), 1, List.of(), List.of());
    }

    /** The same in so many workers. */
    StormShape in(int workerCount) {
        return new StormShape(layout, sources, stages, tasks, workerCount, List.of(), List.of());
    }

    /** The same with a worker on each of these. */
    StormShape on(List<Machine> each) {
        return new StormShape(layout, sources, stages, tasks, each.size(), each, List.of());
    }

    /** The same with a worker within each of these. */
    StormShape limitedTo(List<Limit> each) {
        return new StormShape(layout, sources, stages, tasks, each.size(), List.of(), each);
    }

    /** With so many bolts, if they are in a row, of so many tasks. */
    StragglerTopology topology(int bolts, int tasksOfEach) {
        return new StragglerTopology(
                sources, layout.stages(bolts, tasksOfEach), workers, machines, limits);
    }
}
