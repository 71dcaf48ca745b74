package io.afterbay.experiments.storm;

import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Machine;
import java.util.List;

/**
 * What tuples usually pass in a cell.
 *
 * @param sources tasks of the source
 * @param stages bolts in a row
 * @param tasks numbers of tasks of a bolt
 * @param machines what a worker runs on, each; none for one worker whose tasks share nothing
 */
record StormShape(int sources, int stages, List<Integer> tasks, List<Machine> machines) {

    /** In one worker. */
    StormShape(int sources, int stages, List<Integer> tasks) {
        this(sources, stages, tasks, List.of());
    }

    /** The same in several workers. */
    StormShape on(List<Machine> each) {
        return new StormShape(sources, stages, tasks, each);
    }

    /** With so many bolts of so many tasks. */
    StragglerTopology topology(int bolts, int tasksOfEach) {
        StragglerTopology row = StragglerTopology.row(sources, bolts, tasksOfEach);
        return machines.isEmpty() ? row : row.on(machines);
    }
}
