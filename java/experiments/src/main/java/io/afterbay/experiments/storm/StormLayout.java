package io.afterbay.experiments.storm;

import static io.afterbay.handover.stragglers.StragglerTopology.SOURCE;

import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Stage;
import java.util.List;

/** Which bolts there are, and where their tuples go. */
enum StormLayout {
    /** One behind the other. */
    ROW {
        @Override
        List<Stage> stages(int bolts, int tasks) {
            return StragglerTopology.row(1, bolts, tasks).stages();
        }
    },

    /**
     * Page Load of Yahoo! (the paper, figure 6):
     *
     * <pre>
     *   source - transform - filter - join - filter-2 - aggregate - sink
     * </pre>
     */
    PAGE_LOAD {
        @Override
        List<Stage> stages(int bolts, int tasks) {
            return List.of(
                    new Stage("transform", tasks, List.of(SOURCE)),
                    new Stage("filter", tasks, List.of(0)),
                    new Stage("join", tasks, List.of(1)),
                    new Stage("filter-2", tasks, List.of(2)),
                    new Stage("aggregate", tasks, List.of(3)),
                    new Stage("sink", tasks, List.of(4)));
        }
    },

    /**
     * Processing of Yahoo! (figure 6). The output gets each tuple twice, and has twice the tasks,
     * so that all tasks have the same load:
     *
     * <pre>
     *                    filter - join ------
     *   source - transform                    output
     *                    join-2 - normalize -
     * </pre>
     */
    PROCESSING {
        @Override
        List<Stage> stages(int bolts, int tasks) {
            return List.of(
                    new Stage("transform", tasks, List.of(SOURCE)),
                    new Stage("filter", tasks, List.of(0)),
                    new Stage("join", tasks, List.of(1)),
                    new Stage("join-2", tasks, List.of(0)),
                    new Stage("normalize", tasks, List.of(3)),
                    new Stage("output", 2 * tasks, List.of(2, 4)));
        }
    };

    /**
     * @param bolts of a row
     * @param tasks of a bolt
     */
    abstract List<Stage> stages(int bolts, int tasks);

    /** How many bolts there are, unless they are in a row. */
    int bolts() {
        return stages(1, 1).size();
    }
}
