package io.afterbay.storm.it.job;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Map;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/**
 * Words that are due, with their numbers as message ids, at a steady rate. One that fails is
 * emitted again; a spout that begins anew emits all that were not acked.
 */
final class WordSpout extends BaseRichSpout {
    private static final long serialVersionUID = 1;
    private static final long PERIOD_NANOS = 2_000_000;
    private static final long LOOK_NANOS = 50_000_000;

    private final Ledger ledger;
    private final boolean emitsAgain;

    private transient @Nullable SpoutOutputCollector collector;
    private transient @Nullable NumberLog emittedLog;
    private transient @Nullable NumberLog ackedLog;
    private transient @Nullable Deque<Integer> failed;
    private transient @Nullable BitSet acked;
    private transient int next;
    private transient int limit;
    private transient long emitNanos;
    private transient long lookNanos;

    /**
     * @param emitsAgain whether words that fail are emitted again
     */
    WordSpout(Ledger ledger, boolean emitsAgain) {
        this.ledger = ledger;
        this.emitsAgain = emitsAgain;
    }

    boolean emitsAgain() {
        return emitsAgain;
    }

    @Override
    public void open(
            Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        this.collector = collector;
        failed = new ArrayDeque<>();
        emitNanos = System.nanoTime();
        lookNanos = emitNanos;
        try {
            acked = ledger.acked();
            emittedLog = ledger.emittedLog();
            ackedLog = ledger.ackedLog();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void nextTuple() {
        long now = System.nanoTime();
        if (now - emitNanos < 0) {
            return;
        }
        try {
            int word = takeWord(now);
            if (word >= 0) {
                // What it could not emit in time it does not catch up on.
                emitNanos = Math.max(emitNanos, now - PERIOD_NANOS) + PERIOD_NANOS;
                emittedLog.append(word);
                collector.emit(new Values(word), word);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Or -1, if none is due. */
    private int takeWord(long now) throws IOException {
        Integer again = failed.poll();
        if (again != null) {
            return again;
        }
        next = acked.nextClearBit(next);
        if (next >= limit) {
            look(now);
        }
        return next < limit ? next++ : -1;
    }

    private void look(long now) throws IOException {
        if (now - lookNanos >= 0) {
            lookNanos = now + LOOK_NANOS;
            limit = ledger.limit();
        }
    }

    @Override
    public void ack(Object id) {
        try {
            ackedLog.append((Integer) id);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void fail(Object id) {
        if (emitsAgain) {
            failed.add((Integer) id);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("word"));
    }
}
