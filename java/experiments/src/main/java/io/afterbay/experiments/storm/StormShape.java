package io.afterbay.experiments.storm;

import io.afterbay.handover.stragglers.StragglerTopology;
import java.util.List;

/**
 * What tuples usually pass in a cell.
 *
 * @param sources tasks of the source
 * @param stages bolts in a row
 * @param tasks numbers of tasks of a bolt
 */
record StormShape(int sources, int stages, List<Integer> tasks) {

    /** With so many bolts of so many tasks. */
    StragglerTopology topology(int bolts, int tasksOfEach) {
        return StragglerTopology.row(sources, bolts, tasksOfEach);
    }
}
