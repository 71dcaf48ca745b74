package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Edge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.task.TopologyContext;

/** Writes down which tasks Storm sends the tuples of one operator of a trial to. */
final class Outgoing {
    private final TrialLog log;
    private final Map<Integer, Receiver> receivers = new HashMap<>();

    private record Receiver(int edge, int index) {}

    /**
     * @param from the operator's place; {@link StragglerTopology#SOURCE}
     */
    Outgoing(TrialLog log, TopologyContext context, int from) {
        this.log = log;
        List<Edge> edges = log.edges();
        for (int edge = 0; edge < edges.size(); edge++) {
            if (edges.get(edge).from() == from) {
                add(context, edge, TrialTopology.component(log.plan(), edges.get(edge).to()));
            }
        }
    }

    private void add(TopologyContext context, int edge, String component) {
        List<Integer> ids = context.getComponentTasks(component).stream().sorted().toList();
        for (int index = 0; index < ids.size(); index++) {
            receivers.put(ids.get(index), new Receiver(edge, index));
        }
    }

    /** Whether nothing gets the operator's tuples. */
    boolean isEmpty() {
        return receivers.isEmpty();
    }

    /**
     * @param tasks that Storm has chosen, by their ids
     */
    void sent(int number, List<Integer> tasks) {
        for (int task : tasks) {
            Receiver to = Objects.requireNonNull(receivers.get(task));
            log.sent(to.edge, number, to.index);
        }
    }
}
