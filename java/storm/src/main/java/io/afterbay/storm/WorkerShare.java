package io.afterbay.storm;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.task.WorkerTopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks of one topology in one worker have in common. In local mode several workers are
 * one process, and one may be started again under the same port: so it is found by topology, port
 * and the worker's thread pool, the one object of a worker that reaches groupings too.
 */
final class WorkerShare {
    private static final Map<Worker, WorkerShare> ALL = new ConcurrentHashMap<>();

    private final Worker worker;
    private final Map<Way, Edge> edges = new ConcurrentHashMap<>();
    private final Map<String, BoltQueue> queues = new ConcurrentHashMap<>();
    private final BusyTimes busyTimes = new BusyTimes();

    /** Tasks that have entered and not left; changes in {@link #ALL}'s own lock of the entry. */
    private int tasks;

    private WorkerShare(Worker worker) {
        this.worker = worker;
    }

    /**
     * @param pool what Storm makes for each start of a worker, and shuts down at its end
     */
    private record Worker(String topology, int port, @Nullable ExecutorService pool) {
        private boolean isOver() {
            return pool != null && pool.isShutdown();
        }
    }

    /** A stream of a component, and the component that it goes to. */
    private record Way(String source, String stream, String target) {}

    static WorkerShare of(WorkerTopologyContext context) {
        forgetOver();
        return ALL.computeIfAbsent(worker(context), WorkerShare::new);
    }

    /** Of a worker with groupings only, no task {@link #leave}s it. */
    private static void forgetOver() {
        ALL.keySet().removeIf(Worker::isOver);
    }

    static boolean isKnown(WorkerTopologyContext context) {
        return ALL.containsKey(worker(context));
    }

    private static Worker worker(WorkerTopologyContext context) {
        return new Worker(
                context.getStormId(), context.getThisWorkerPort(), context.getSharedExecutor());
    }

    /** For a task, which has to {@link #leave} at its end. */
    static WorkerShare enter(WorkerTopologyContext context) {
        forgetOver();
        WorkerShare entered =
                ALL.compute(
                        worker(context),
                        (worker, there) -> {
                            WorkerShare share = there == null ? new WorkerShare(worker) : there;
                            share.tasks++;
                            return share;
                        });
        return Objects.requireNonNull(entered);
    }

    /** It is forgotten with the last one: in local mode, many topologies come and go. */
    void leave() {
        ALL.computeIfPresent(worker, (any, share) -> share == this && --tasks == 0 ? null : share);
    }

    Edge edge(GlobalStreamId stream, String target, Supplier<Edge> make) {
        return edges.computeIfAbsent(
                new Way(Components.source(stream), Components.name(stream), target),
                any -> make.get());
    }

    /** One that a grouping of this worker has made; null if there is none. */
    @Nullable Edge edge(String source, String stream, String target) {
        return edges.get(new Way(source, stream, target));
    }

    BoltQueue queue(String component, Supplier<BoltQueue> make) {
        return queues.computeIfAbsent(component, any -> make.get());
    }

    BusyTimes busyTimes() {
        return busyTimes;
    }

    /** A bolt's queue whose last task has ended. */
    void forget(String component, BoltQueue queue) {
        queues.remove(component, queue);
    }
}
