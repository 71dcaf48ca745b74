package io.afterbay.storm;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.apache.storm.policy.IWaitStrategy;
import org.apache.storm.policy.WaitStrategyProgressive;
import org.jspecify.annotations.Nullable;

/**
 * How Storm's thread of a bolt waits when no tuple has come: it looks again after a small part of
 * the time that the bolt takes for a tuple. That holds for shared bolts, and for those on the way
 * of a replayed spout; all others wait by Storm's default, {@link WaitStrategyProgressive}, and its
 * configuration. {@link Stragglers#on(org.apache.storm.generated.StormTopology, StragglerSettings,
 * Map)} makes it {@code topology.bolt.wait.strategy}: Storm has none for a single bolt.
 *
 * <p>By Storm's rule, a thread looks some 15,000 times a second while it waits. That of a shared
 * bolt always does, as another thread works; and where processor time is what limits replays, this
 * is most of it. Here it looks {@value #LOOKS_PER_TUPLE} times while a task processes one tuple, so
 * that a tuple begins later by a thirty-second part of that time on average; less and less often
 * while nothing comes, and once a millisecond at least. Where it only has to look for tuples of the
 * system, it does so every {@value #REST_MILLIS} ms in the end.
 */
public final class PacedWait implements IWaitStrategy {
    /** How often it looks while a task processes one tuple. */
    static final int LOOKS_PER_TUPLE = 16;

    /** As Storm's own when nothing has come for long. */
    static final long NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(1);

    /** The longest that a thread rests that only gets tuples of the system, such as ticks. */
    static final long REST_MILLIS = 16;

    private static final Pace RESTING =
            new Pace(() -> LOOKS_PER_TUPLE * NANOS_MAX, TimeUnit.MILLISECONDS.toNanos(REST_MILLIS));

    /** So many times in vain, and it looks half as often. */
    private static final int LOOKS_PER_STEP = 32;

    /** From the shortest to the longest time between two looks. */
    private static final int STEPS_MAX = 20;

    private static final ThreadLocal<@Nullable Pace> PACE = new ThreadLocal<>();

    private final IWaitStrategy others = new WaitStrategyProgressive();

    /** For Storm, which makes one for each executor. */
    public PacedWait() {}

    /**
     * From now on, this thread of Storm's waits by the time that its bolt takes.
     *
     * @param tupleNanos for a tuple; 0 if nobody knows yet
     */
    static void follow(LongSupplier tupleNanos) {
        PACE.set(new Pace(tupleNanos, NANOS_MAX));
    }

    /** How this thread of Storm's waits; null if as by Storm's default. */
    static @Nullable Pace pace() {
        return PACE.get();
    }

    /**
     * From now on, this thread of Storm's only looks for what is of the system, unless it has other
     * tasks that follow.
     *
     * @param ofOthers its {@link #pace()} before this task was prepared
     */
    static void rest(@Nullable Pace ofOthers) {
        PACE.set(ofOthers == null ? RESTING : ofOthers);
    }

    /**
     * How a thread waits.
     *
     * @param tupleNanos what its bolt takes for a tuple
     * @param nanosMax between two looks
     */
    record Pace(LongSupplier tupleNanos, long nanosMax) {
        /**
         * Until the next look.
         *
         * @param times how often it has looked in vain
         */
        long nanos(int times) {
            long nanos = Math.max(1, tupleNanos.getAsLong() / LOOKS_PER_TUPLE);
            return Math.min(nanosMax, Math.min(nanosMax, nanos) << (times / LOOKS_PER_STEP));
        }
    }

    @Override
    public void prepare(Map<String, Object> conf, WaitSituation situation) {
        others.prepare(conf, situation);
    }

    @Override
    public int idle(int times) throws InterruptedException {
        Pace pace = PACE.get();
        if (pace == null) {
            return others.idle(times);
        }
        LockSupport.parkNanos(pace.nanos(times));
        return Math.min(times + 1, STEPS_MAX * LOOKS_PER_STEP);
    }
}
