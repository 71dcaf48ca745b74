package io.afterbay.storm;

import io.afterbay.stragglers.Replays;
import io.afterbay.stragglers.Replays.Incarnation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.storm.spout.ISpout;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One task of a spout, between the user's spout and Storm.
 *
 * <pre>
 *   spout -- emit(values, id) --&gt;                -- emit(values, 1) --&gt; Storm
 *                                  late:         -- emit(values, 2) --&gt;
 *         &lt;----- ack(id) --------                &lt;----- ack(2) -------
 *                                                &lt;----- fail(1) ------
 * </pre>
 *
 * <p>Each incarnation of a tuple has a message id of its own, a number. The spout is told of the
 * end of a tuple once: acked with the first incarnation that was, failed when all have. Two tuples
 * with equal ids of the spout are two tuples.
 *
 * <p>What has no message id, and what is emitted directly, is not replayed: of the first nobody
 * hears how it ends, and the second must go to the task that it was for.
 *
 * <p>For the thread of the spout's executor only, but {@link #pending} for any.
 */
final class ReplayedTask implements ISpoutOutputCollector {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayedTask.class);

    private final String component;
    private final ISpout spout;
    private final ISpoutOutputCollector storm;
    private final Replays<Emission> replays;
    private final int pendingMax;
    private final Map<Long, Incarnation<Emission>> incarnations = new HashMap<>();
    private final Map<Long, Object> direct = new HashMap<>();
    private long lastId;
    private boolean hasWarned;
    private volatile int pending;

    /**
     * @param component its id
     * @param pendingMax how many tuples of the spout may be under way, replays apart; 0 for any
     *     number
     */
    ReplayedTask(
            String component,
            ISpout spout,
            ISpoutOutputCollector storm,
            Replays<Emission> replays,
            int pendingMax) {
        this.component = component;
        this.spout = spout;
        this.storm = storm;
        this.replays = replays;
        this.pendingMax = pendingMax;
    }

    /** What the spout has emitted. */
    record Emission(String stream, List<Object> values, Object id) {}

    /** Storm asks for tuples: the late ones first, and then the spout, if it has room for more. */
    void nextTuple() {
        for (Incarnation<Emission> late = replays.next(); late != null; late = replays.next()) {
            send(late);
        }
        if (pendingMax == 0 || pending < pendingMax) {
            spout.nextTuple();
        }
    }

    private List<Integer> send(Incarnation<Emission> incarnation) {
        long id = ++lastId;
        incarnations.put(id, incarnation);
        Emission what = incarnation.content();
        List<Integer> tasks =
                AvoidedTasks.around(
                        incarnation.original().hops(),
                        () -> storm.emit(what.stream, what.values, id));
        incarnation.sentTo(tasks.stream().mapToInt(Integer::intValue).toArray());
        return tasks;
    }

    @Override
    public List<Integer> emit(String stream, List<Object> values, @Nullable Object id) {
        if (id == null) {
            warnOnce();
            return storm.emit(stream, values, null);
        }
        Incarnation<Emission> first = replays.emit(new Emission(stream, values, id));
        count();
        return send(first);
    }

    @Override
    public void emitDirect(int task, String stream, List<Object> values, @Nullable Object id) {
        if (id == null) {
            storm.emitDirect(task, stream, values, null);
            return;
        }
        long number = ++lastId;
        direct.put(number, id);
        count();
        storm.emitDirect(task, stream, values, number);
    }

    private void warnOnce() {
        if (!hasWarned) {
            hasWarned = true;
            LOG.warn(
                    "spout '{}' emits tuples without message id: these are not replayed; emit them with one, or leave the spout out of replayed()",
                    component);
        }
    }

    /** Storm says that an incarnation has been processed. */
    void ack(Object id) {
        Incarnation<Emission> incarnation = incarnations.remove((Long) id);
        if (incarnation == null) {
            endDirect(id, spout::ack);
        } else if (replays.finished(incarnation)) {
            count();
            spout.ack(incarnation.content().id);
        }
    }

    /** Storm says that an incarnation has failed, or its time has run out. */
    void fail(Object id) {
        Incarnation<Emission> incarnation = incarnations.remove((Long) id);
        if (incarnation == null) {
            endDirect(id, spout::fail);
        } else if (replays.failed(incarnation)) {
            count();
            spout.fail(incarnation.content().id);
        }
    }

    private void endDirect(Object id, Consumer<Object> end) {
        Object of = direct.remove((Long) id);
        if (of != null) {
            count();
            end.accept(of);
        }
    }

    private void count() {
        pending = replays.inFlight() + direct.size();
    }

    /** Tuples of the spout that have not ended. */
    int pending() {
        return pending;
    }

    /** Emissions with an id that Storm has not told the end of. */
    int underWay() {
        return incarnations.size();
    }

    /** As {@link #pending}: the spout does not see its replays. */
    @Override
    public long getPendingCount() {
        return pending;
    }

    @Override
    public void flush() {
        storm.flush();
    }

    @Override
    public void reportError(Throwable error) {
        storm.reportError(error);
    }
}
