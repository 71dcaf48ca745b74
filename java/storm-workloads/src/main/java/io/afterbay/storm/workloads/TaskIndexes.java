package io.afterbay.storm.workloads;

import java.util.List;
import org.apache.storm.task.TopologyContext;

/** The tasks of a component, counted from 0, by Storm's ids. */
record TaskIndexes(List<Integer> ids) {

    static TaskIndexes of(TopologyContext context, String component) {
        return new TaskIndexes(context.getComponentTasks(component).stream().sorted().toList());
    }

    int of(int id) {
        return ids.indexOf(id);
    }
}
