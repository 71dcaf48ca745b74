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
 * while nothing comes, and once a millisecond at least.
 */
public final class PacedWait implements IWaitStrategy {
    /** How often it looks while a task processes one tuple. */
    static final int LOOKS_PER_TUPLE = 16;

    /** As Storm's own when nothing has come for long. */
    static final long NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(1);

    /** So many times in vain, and it looks half as often. */
    private static final int LOOKS_PER_STEP = 32;

    /** From the shortest to the longest time between two looks. */
    private static final int STEPS_MAX = 20;

    private static final ThreadLocal<@Nullable LongSupplier> TUPLE_NANOS = new ThreadLocal<>();

    private final IWaitStrategy others = new WaitStrategyProgressive();

    /** For Storm, which makes one for each executor. */
    public PacedWait() {}

    /**
     * From now on, this thread of Storm's waits by the time that its bolt takes.
     *
     * @param tupleNanos for a tuple; 0 if nobody knows yet
     */
    static void follow(LongSupplier tupleNanos) {
        TUPLE_NANOS.set(tupleNanos);
    }

    @Override
    public void prepare(Map<String, Object> conf, WaitSituation situation) {
        others.prepare(conf, situation);
    }

    @Override
    public int idle(int times) throws InterruptedException {
        LongSupplier tupleNanos = TUPLE_NANOS.get();
        if (tupleNanos == null) {
            return others.idle(times);
        }
        LockSupport.parkNanos(nanos(tupleNanos.getAsLong(), times));
        return Math.min(times + 1, STEPS_MAX * LOOKS_PER_STEP);
    }

    /**
     * Until the next look.
     *
     * @param times how often it has looked in vain
     */
    static long nanos(long tupleNanos, int times) {
        long nanos = Math.min(NANOS_MAX, Math.max(1, tupleNanos / LOOKS_PER_TUPLE));
        return Math.min(NANOS_MAX, nanos << (times / LOOKS_PER_STEP));
    }
}
