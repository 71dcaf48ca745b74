package io.afterbay.rocksdb;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the instances of one {@link org.rocksdb.Env} and sets its threads.
 *
 * <pre>
 *   RocksDB's threads --listener--> Activity, CompactionHold --lock--> one daemon thread
 *                                                                            |
 *                     Env.setBackgroundThreads(LOW)  <----- PoolThreads -----+
 * </pre>
 *
 * <p>Callbacks change what is wanted and return; only the daemon touches the pool, so that no flush
 * waits for that (up to 14 ms on a busy machine). It looks at the number again while compactions
 * are held, since others set it without asking.
 *
 * <p>However the daemon ends, the pool is open after it. Should it be stuck instead, the next event
 * of any instance opens the pool. {@code pauseBackgroundWork} is not used: it waits for compactions
 * that are queued, and those wait for the pool.
 *
 * <p>Safe for use by any thread; the lock is held for arithmetic only.
 */
final class Coordinator implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Coordinator.class);
    private static final long REASSERT_HELD_NANOS = 5_000_000;
    private static final long REASSERT_LIMIT_NANOS = 500_000_000;

    /** How much longer than the deadline a hold may last before others open the pool. */
    static final long GRACE_NANOS = 500_000_000;

    private final DesyncSettings settings;
    private final Pools pools;
    private final PoolThreads low;
    private final PoolThreads high;
    private final CompactionHold hold;
    private final CalmTimes calm;
    private final Activity activity = new Activity();
    private final int processors = Runtime.getRuntime().availableProcessors();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean isDirty;
    private boolean isClosed;
    private boolean hasFailed;
    private int instances;
    private int nearSlowdown;
    private int knee;

    private Coordinator(DesyncSettings settings, Pools pools) {
        this.settings = settings;
        this.pools = pools;
        low = new PoolThreads(pools.compactions());
        high = new PoolThreads(pools.flushes());
        hold = new CompactionHold(settings);
        calm = new CalmTimes(CpuSource.ofProcess(), processors, hold.delay());
    }

    static Coordinator start(DesyncSettings settings, Pools pools) {
        Coordinator result = new Coordinator(settings, pools);
        if (settings.needsCoordinator()) {
            startDaemon("afterbay-rocksdb", result::work);
        }
        if (settings.threads().seeksKnee()) {
            startDaemon("afterbay-rocksdb-knee", result::seekKnee);
        }
        return result;
    }

    private static void startDaemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.setContextClassLoader(Coordinator.class.getClassLoader());
        thread.start();
    }

    DesyncSettings settings() {
        return settings;
    }

    void opened() {
        locked(() -> instances++);
    }

    void closed(DesyncInstance instance) {
        locked(
                () -> {
                    instance.isGone = true;
                    instances--;
                    hold.allFlushesEnded(instance.member, System.nanoTime());
                    activity.flushesEnded(instance.flushes);
                    activity.compactionsEnded(instance.compactions);
                    setNear(instance, false);
                });
    }

    /**
     * @param isOfBurst whether others of the process flush for the same reason at the same time
     */
    void flushBegan(DesyncInstance instance, boolean isOfBurst) {
        of(
                instance,
                () -> {
                    instance.flushes++;
                    activity.flushBegan();
                    if (isOfBurst) {
                        hold.flushBegan(instance.member, System.nanoTime());
                    }
                });
    }

    void flushEnded(DesyncInstance instance, boolean isNearSlowdown) {
        of(
                instance,
                () -> {
                    int ended = Math.min(1, instance.flushes);
                    instance.flushes -= ended;
                    activity.flushesEnded(ended);
                    hold.flushEnded(instance.member, System.nanoTime());
                    setNear(instance, isNearSlowdown);
                });
    }

    void compactionBegan(DesyncInstance instance) {
        of(
                instance,
                () -> {
                    instance.compactions++;
                    activity.compactionBegan(hold.burst());
                });
    }

    void compactionEnded(DesyncInstance instance, boolean isNearSlowdown) {
        of(
                instance,
                () -> {
                    int ended = Math.min(1, instance.compactions);
                    instance.compactions -= ended;
                    activity.compactionsEnded(ended);
                    setNear(instance, isNearSlowdown);
                });
    }

    void nearSlowdown(DesyncInstance instance, boolean isNear) {
        of(instance, () -> setNear(instance, isNear));
    }

    private void setNear(DesyncInstance instance, boolean isNear) {
        if (instance.isNearSlowdown != isNear) {
            instance.isNearSlowdown = isNear;
            nearSlowdown += isNear ? 1 : -1;
            hold.addNearSlowdown(isNear ? 1 : -1);
        }
    }

    void arrived(long events, long nanos) {
        locked(() -> hold.delay().arrived(events, nanos));
    }

    void drained(long events, long nanos) {
        locked(() -> hold.delay().drained(events, nanos));
    }

    /** What an instance does; a database may still be closing when its instance is closed. */
    private void of(DesyncInstance instance, Runnable event) {
        locked(
                () -> {
                    if (!instance.isGone) {
                        event.run();
                    }
                });
    }

    /** Changes something that the daemon may wait for, and looks after the daemon. */
    private void locked(Runnable change) {
        boolean isStuck;
        lock.lock();
        try {
            change.run();
            sayWhetherCalm();
            isDirty = true;
            changed.signalAll();
            isStuck = hold.isOverdue(System.nanoTime(), GRACE_NANOS);
        } finally {
            lock.unlock();
        }
        if (isStuck) {
            low.forceOpen();
        }
    }

    private void sayWhetherCalm() {
        if (settings.isGated()) {
            long now = System.nanoTime();
            boolean isIdle = activity.flushes() == 0 && activity.compactions() == 0;
            calm.change(isIdle && !hold.isBurst(now), now);
        }
    }

    private void work() {
        try {
            boolean goesOn;
            do {
                goesOn = step();
            } while (goesOn);
        } catch (Throwable e) { // the pool must be open, whatever it was
            fail(e);
        } finally {
            closePools();
        }
    }

    private void closePools() {
        try {
            low.close();
        } finally {
            high.close();
        }
    }

    private void fail(Throwable e) {
        LOG.error(
                "The coordinator of RocksDB's compactions has ended: none is held back any more"
                        + " until all instances of this process are closed",
                e);
        locked(
                () -> {
                    hasFailed = true;
                    hold.giveUp(System.nanoTime());
                });
    }

    /** Sets the pool as it should be now, and waits for a change; false after the last one. */
    private boolean step() {
        boolean isHeld;
        int limit;
        lock.lock();
        try {
            if (isClosed) {
                return false;
            }
            isDirty = false;
            isHeld = hold.update(System.nanoTime());
            sayWhetherCalm();
            limit = limit();
        } finally {
            lock.unlock();
        }
        low.apply(isHeld, limit);
        high.apply(false, settings.flushThreads());
        boolean isLimited = limit > 0 || settings.flushThreads() > 0;
        await(isHeld ? REASSERT_HELD_NANOS : isLimited ? REASSERT_LIMIT_NANOS : Long.MAX_VALUE);
        return true;
    }

    /** Compactions at once while none is held back; 0 for as RocksDB and its user want. */
    private int limit() {
        return switch (settings.threads().mode()) {
            case DEFAULT, ADVISED -> 0;
            case FIXED -> settings.threads().number();
            case AUTO ->
                    knee == 0 ? processors : nearSlowdown > 0 ? Math.max(knee, processors) : knee;
        };
    }

    private void await(long atMostNanos) {
        lock.lock();
        try {
            if (!isDirty) {
                long nanos = Math.min(atMostNanos, hold.nanosToChange(System.nanoTime()));
                changed.await(nanos, TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            // A stranger's: the thread ends with the last instance only.
        } finally {
            lock.unlock();
        }
    }

    private void seekKnee() {
        try {
            KneeSampler sampler = new KneeSampler(settings.threads().latency(), this::compactions);
            while (!isOver()) {
                Thread.sleep(TimeUnit.NANOSECONDS.toMillis(KneeSampler.PERIOD_NANOS));
                setKnee(sampler.sample(System.nanoTime()));
            }
        } catch (Throwable e) { // of the source of latencies, which is not ours
            LOG.error("No number of compaction threads is sought any more", e);
            setKnee(0);
        }
    }

    private void setKnee(int threads) {
        if (knee() != threads) {
            locked(() -> knee = threads);
        }
    }

    private int knee() {
        lock.lock();
        try {
            return knee;
        } finally {
            lock.unlock();
        }
    }

    private int compactions() {
        lock.lock();
        try {
            return activity.compactions();
        } finally {
            lock.unlock();
        }
    }

    private boolean isOver() {
        lock.lock();
        try {
            return isClosed || hasFailed;
        } finally {
            lock.unlock();
        }
    }

    DesyncMetrics metrics() {
        lock.lock();
        try {
            return new DesyncMetrics(
                    instances,
                    activity.flushes(),
                    activity.compactions(),
                    pools.compactions().queued(),
                    activity.flushesBegan(),
                    activity.compactionsBegan(),
                    activity.mostFlushes(),
                    activity.mostCompactions(),
                    activity.overlaps(),
                    hold.burst(),
                    hold.isBurst(System.nanoTime()),
                    activity.mostCompactionsOfBurst(),
                    hold.isHolding(),
                    hold.holds(),
                    hold.heldNanos(System.nanoTime()),
                    hold.delay().lastNanos(),
                    hold.endedByGuard(),
                    hold.endedByDeadline(),
                    low.reassertions(),
                    knee,
                    hasFailed);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the daemon. When this returns, the pools have as many threads as others want. */
    @Override
    public void close() {
        locked(() -> isClosed = true);
        closePools();
    }
}
