package io.afterbay.stragglers;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The tuples of one source task that are under way, and which of them to emit a second time (the
 * paper, sections 3.1 and 4).
 *
 * <pre>
 *   oldest                                   newest
 *   tuple &lt;---&gt; tuple &lt;---&gt; tuple &lt;---&gt; tuple            in order of emission
 *     |
 *     +-- older than the timeout, and the budget allows it: next() emits its replay
 * </pre>
 *
 * <ul>
 *   <li>Only the source replays; what the first of a tuple's incarnations takes is the tuple's
 *       latency.
 *   <li>A tuple of which an incarnation has finished, or which has failed, is not replayed.
 *   <li>A tuple is replayed once. The paper sets no limit, and its algorithm would replay a tuple
 *       again and again where a whole operator stands still.
 *   <li>The oldest goes first. A budget that says no holds up those behind it, which are less late.
 * </ul>
 *
 * <p>For the thread of the source task only, but {@link #replaysThatWon} and {@link #refused} for
 * any.
 *
 * @param <T> what a binding needs to emit a tuple again, and to tell its source how it ended
 */
public final class Replays<T> {
    private final AdaptiveTimeout timeout;
    private final ReplayBudget budget;
    private final LongSupplier nanoClock;
    private @Nullable Tuple<T> oldest;
    private @Nullable Tuple<T> newest;
    private int inFlight;
    private final AtomicLong replaysThatWon = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();

    /**
     * @param nanoClock that of the timeout
     */
    public Replays(AdaptiveTimeout timeout, ReplayBudget budget, LongSupplier nanoClock) {
        this.timeout = timeout;
        this.budget = budget;
        this.nanoClock = nanoClock;
    }

    /** One emission of a tuple. */
    public static final class Incarnation<T> {
        private final Tuple<T> tuple;
        private final long sentNanos;
        private boolean hasEnded;
        private int[] hops = {};

        private Incarnation(Tuple<T> tuple, long sentNanos) {
            this.tuple = tuple;
            this.sentNanos = sentNanos;
        }

        public T content() {
            return tuple.content;
        }

        /** When it was emitted, by the clock. */
        public long sentNanos() {
            return sentNanos;
        }

        /** Notes the tasks that it went to, for {@link #hops}. */
        public void sentTo(int... tasks) {
            hops = tasks;
        }

        /** The tasks that it went to. */
        public int[] hops() {
            return hops;
        }

        /** The first emission of the tuple: a replay goes around its {@link #hops}. */
        public Incarnation<T> original() {
            return tuple.original;
        }

        public boolean isReplay() {
            return tuple.original != this;
        }
    }

    private static final class Tuple<T> {
        final T content;
        final Incarnation<T> original;
        int open = 1;
        boolean hasFinished;
        boolean isLinked;
        boolean wasRefused;
        @Nullable Tuple<T> older;
        @Nullable Tuple<T> newer;

        Tuple(T content, long now) {
            this.content = content;
            this.original = new Incarnation<>(this, now);
        }
    }

    /** A tuple is emitted for the first time, now. */
    public Incarnation<T> emit(T content) {
        budget.emitted();
        inFlight++;
        Tuple<T> tuple = new Tuple<>(content, nanoClock.getAsLong());
        link(tuple);
        return tuple.original;
    }

    /** The replay of the oldest tuple that is late, to be emitted now; null if there is none. */
    public @Nullable Incarnation<T> next() {
        Tuple<T> tuple = oldest;
        if (tuple == null) {
            return null;
        }
        long now = nanoClock.getAsLong();
        if (now - tuple.original.sentNanos < timeout.timeoutNanos()) {
            return null;
        }
        if (!budget.tryReplay()) {
            noteRefusal(tuple);
            return null;
        }
        unlink(tuple);
        tuple.open++;
        return new Incarnation<>(tuple, now);
    }

    private void noteRefusal(Tuple<T> tuple) {
        if (!tuple.wasRefused) {
            tuple.wasRefused = true;
            refused.incrementAndGet();
        }
    }

    /**
     * An incarnation has been processed as a whole.
     *
     * @return whether it is the first of its tuple: the source is told once
     */
    public boolean finished(Incarnation<T> incarnation) {
        Tuple<T> tuple = incarnation.tuple;
        if (!end(incarnation) || tuple.hasFinished) {
            return false;
        }
        tuple.hasFinished = true;
        leave(tuple);
        timeout.record(nanoClock.getAsLong() - tuple.original.sentNanos);
        if (incarnation.isReplay()) {
            replaysThatWon.incrementAndGet();
        }
        return true;
    }

    /**
     * An incarnation has failed.
     *
     * @return whether its tuple has: none of its incarnations has finished, or may still
     */
    public boolean failed(Incarnation<T> incarnation) {
        Tuple<T> tuple = incarnation.tuple;
        if (!end(incarnation) || tuple.hasFinished || tuple.open > 0) {
            return false;
        }
        leave(tuple);
        return true;
    }

    /** False if it had ended before. */
    private static <T> boolean end(Incarnation<T> incarnation) {
        if (incarnation.hasEnded) {
            return false;
        }
        incarnation.hasEnded = true;
        incarnation.tuple.open--;
        return true;
    }

    private void leave(Tuple<T> tuple) {
        inFlight--;
        if (tuple.isLinked) {
            unlink(tuple);
        }
    }

    private void link(Tuple<T> tuple) {
        Tuple<T> last = newest;
        tuple.isLinked = true;
        tuple.older = last;
        if (last == null) {
            oldest = tuple;
        } else {
            last.newer = tuple;
        }
        newest = tuple;
    }

    private void unlink(Tuple<T> tuple) {
        Tuple<T> older = tuple.older;
        Tuple<T> newer = tuple.newer;
        if (older == null) {
            oldest = newer;
        } else {
            older.newer = newer;
        }
        if (newer == null) {
            newest = older;
        } else {
            newer.older = older;
        }
        tuple.older = null;
        tuple.newer = null;
        tuple.isLinked = false;
    }

    /** Tuples of which no incarnation has finished, and not all have failed. */
    public int inFlight() {
        return inFlight;
    }

    /** Tuples that were late when the budget said no, and were the oldest; each counts once. */
    public long refused() {
        return refused.get();
    }

    /** Tuples whose replay finished before the original: what replaying was good for. */
    public long replaysThatWon() {
        return replaysThatWon.get();
    }
}
