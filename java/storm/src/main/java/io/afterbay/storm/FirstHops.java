package io.afterbay.storm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.storm.task.TopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * Which tasks had the tuples of one spout task first, until Storm says that all that came of a
 * tuple is done, or has failed; so {@link Edge}s hear of it.
 *
 * <p>Ids stay as the spout made them. Storm gives back the very object, so that its identity finds
 * the tuple. An id may be under way several times.
 *
 * <p>Safe for use by any thread.
 */
final class FirstHops {
    private final LongSupplier nanoClock;
    private final Map<String, Map<Integer, Edge>> edges;
    private final Map<Object, Sent> pending = new IdentityHashMap<>();

    private record Hop(Edge edge, int task) {}

    /**
     * @param earlier of the same id; null if there is none
     */
    private record Sent(List<Hop> hops, long nanos, @Nullable Sent earlier) {}

    /**
     * @param edges that want to hear of acks: by stream, and by task
     */
    FirstHops(LongSupplier nanoClock, Map<String, Map<Integer, Edge>> edges) {
        this.nanoClock = nanoClock;
        this.edges = edges;
    }

    /** Those of a spout's task. */
    static FirstHops of(TopologyContext context) {
        WorkerShare share = WorkerShare.of(context);
        String self = context.getThisComponentId();
        Map<String, Map<Integer, Edge>> edges = new HashMap<>();
        context.getThisTargets()
                .forEach(
                        (stream, targets) -> {
                            for (String target : targets.keySet()) {
                                Edge edge = share.edge(self, stream, target);
                                if (edge != null && edge.wantsAcks()) {
                                    Map<Integer, Edge> ofTasks =
                                            edges.computeIfAbsent(stream, any -> new HashMap<>());
                                    context.getComponentTasks(target)
                                            .forEach(task -> ofTasks.put(task, edge));
                                }
                            }
                        });
        return new FirstHops(System::nanoTime, edges);
    }

    /** Whether nobody wants to hear of acks. */
    boolean isEmpty() {
        return edges.isEmpty();
    }

    /**
     * Emits a tuple with an id. Its ack is not heard of before this has ended.
     *
     * @param emit gives the tasks that the tuple went to
     */
    synchronized List<Integer> emit(String stream, Object id, Supplier<List<Integer>> emit) {
        List<Integer> tasks = emit.get();
        List<Hop> hops = hops(edges.getOrDefault(stream, Map.of()), tasks);
        if (!hops.isEmpty()) {
            hops.forEach(hop -> hop.edge.sentWithId(hop.task));
            pending.put(id, new Sent(hops, nanoClock.getAsLong(), pending.get(id)));
        }
        return tasks;
    }

    private static List<Hop> hops(Map<Integer, Edge> ofTasks, List<Integer> tasks) {
        List<Hop> hops = new ArrayList<>(1);
        for (Integer task : tasks) {
            Edge edge = ofTasks.get(task);
            if (edge != null) {
                hops.add(new Hop(edge, task));
            }
        }
        return hops;
    }

    /** All that came of a tuple is done. */
    void acked(Object id) {
        Sent sent = remove(id);
        if (sent != null) {
            long nanos = nanoClock.getAsLong() - sent.nanos;
            sent.hops.forEach(hop -> hop.edge.acked(hop.task, nanos));
        }
    }

    void failed(Object id) {
        Sent sent = remove(id);
        if (sent != null) {
            sent.hops.forEach(hop -> hop.edge.failed(hop.task));
        }
    }

    private synchronized @Nullable Sent remove(Object id) {
        Sent sent = pending.remove(id);
        if (sent != null && sent.earlier != null) {
            pending.put(id, sent.earlier);
        }
        return sent;
    }

    /** Tuples that are neither acked nor failed. */
    synchronized int pending() {
        int count = 0;
        for (Sent sent : pending.values()) {
            for (Sent one = sent; one != null; one = one.earlier) {
                count++;
            }
        }
        return count;
    }
}
