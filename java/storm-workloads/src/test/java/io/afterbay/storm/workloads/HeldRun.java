package io.afterbay.storm.workloads;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricFilter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.thrift.TException;

/**
 * A run of a {@link HeldTopology}, which finds it by its name: what its spout and its bolt did, and
 * what Storm says of its queues. Safe for use by any thread.
 */
final class HeldRun implements AutoCloseable {
    private static final Map<String, HeldRun> ALL = new ConcurrentHashMap<>();

    private final EmbeddedStorm storm;
    private final String name;
    private final Measured measured;
    private final CountDownLatch isLetGo = new CountDownLatch(1);
    private final AtomicInteger asked = new AtomicInteger();
    private final Queue<Integer> begun = new ConcurrentLinkedQueue<>();

    private HeldRun(EmbeddedStorm storm, String name) {
        this.storm = storm;
        this.name = name;
        this.measured = Measured.of(name);
    }

    /**
     * @param topology one of the plan
     */
    static HeldRun submit(EmbeddedStorm storm, HeldTopology.Plan plan, StormTopology topology)
            throws TException {
        HeldRun run = new HeldRun(storm, plan.run());
        ALL.put(plan.run(), run);
        storm.submit(plan.run(), HeldTopology.conf(plan.run()), topology);
        return run;
    }

    static HeldRun of(String name) {
        return Objects.requireNonNull(ALL.get(name));
    }

    /** For the spout: Storm has asked it for a tuple. */
    void asked() {
        asked.incrementAndGet();
    }

    /** For the bolt: it has begun with a number. Returns when all tasks are let go. */
    void hold(int number) throws InterruptedException {
        begun.add(number);
        isLetGo.await();
    }

    void letGo() {
        isLetGo.countDown();
    }

    /** How many times Storm has asked the spout for a tuple. */
    int asks() {
        return asked.get();
    }

    /** Numbers that any task has begun with, in this order. */
    List<Integer> begun() {
        return List.copyOf(begun);
    }

    Measured measured() {
        return measured;
    }

    /** Tuples in the shared queue: all of its tasks say the same. */
    int waiting() {
        return gauges("-afterbay-shared-waiting").mapToInt(Number::intValue).max().orElse(0);
    }

    /** Whether Storm's own queue of any task that stands still is full. */
    boolean isAnyReceiveQueueFull() {
        return gauges("." + HeldTopology.HELD + ".", "-pct_full")
                .anyMatch(share -> share.doubleValue() == 1);
    }

    private Stream<Number> gauges(String end) {
        return gauges("", end);
    }

    private Stream<Number> gauges(String part, String end) {
        return WorkerMetrics.of(name).stream()
                .flatMap(worker -> worker.getGauges(named(part, end)).values().stream())
                .map(gauge -> (Number) gauge.getValue());
    }

    private static MetricFilter named(String part, String end) {
        return (metric, any) -> metric.contains(part) && metric.endsWith(end);
    }

    /** For how long Storm has not asked the spout because a queue was full, as Storm counts it. */
    long heldUpMs() {
        return WorkerMetrics.of(name).stream()
                .flatMap(
                        worker ->
                                worker
                                        .getCounters(named("", "__skipped-backpressure-ms"))
                                        .values()
                                        .stream())
                .mapToLong(Counter::getCount)
                .sum();
    }

    @Override
    public String toString() {
        return "%d asks, %d begun, %d waiting, any queue of Storm's full: %s, held up for %d ms, %d acked, %d failed"
                .formatted(
                        asks(),
                        begun.size(),
                        waiting(),
                        isAnyReceiveQueueFull(),
                        heldUpMs(),
                        measured.ackedWords(),
                        measured.failures());
    }

    /** Ends it, whatever it does. */
    @Override
    public void close() throws Exception {
        letGo();
        storm.kill(name);
        ALL.remove(name);
        Measured.forget(name);
        WorkerMetrics.forget(name);
    }
}
