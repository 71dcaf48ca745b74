package io.afterbay.maintenance;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the background work of all instances in a process, so that it does not land together
 * (ShadowSync, Middleware '22): flushes at once, the rest spread over a period by instance, held
 * back during bursts of checkpoints and while their queues drain, and limited in number.
 *
 * <pre>
 *   instance --execute--> flushes    --------------------------------+
 *                         deferrable --> phase --> gate --> limit ---+--> threads
 *                                          \---- deadline ----------/
 * </pre>
 *
 * <p>{@link TaskQueues} has the policy. Threads are daemons, start with the first instance and end
 * after the last, so that they keep no class loader; the scheduler can be used again then. Safe for
 * use by any thread. Its lock is held for choosing tasks only, never while one runs: callers may
 * hold locks that tasks take.
 *
 * <p>A task that throws is reported to the thread's handler of uncaught exceptions; the thread goes
 * on with the next.
 */
public final class MaintenanceScheduler {
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final MaintenanceSettings settings;
    private final LongSupplier clock;
    private final BurstDelay delay;
    private final BurstGate gate;
    private final TaskQueues queues;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int openInstances;
    private int workers;

    public MaintenanceScheduler(MaintenanceSettings settings) {
        this(settings, System::nanoTime);
    }

    /**
     * A scheduler with a clock of its own. Threads wait in real time: whoever sets the clock
     * forward calls {@link #clockChanged}.
     */
    MaintenanceScheduler(MaintenanceSettings settings, LongSupplier nanoClock) {
        this.settings = settings;
        this.clock = nanoClock;
        this.delay = new BurstDelay(settings.maxPauseNanos());
        this.gate = BurstGate.of(settings, delay);
        this.queues = new TaskQueues(settings, gate);
    }

    /** Adds an instance, and starts the threads with the first. Names need not differ. */
    public MaintenanceInstance register(String name) {
        lock.lock();
        try {
            startWorkers(); // first: it may fail, and the threads wait for the lock
            openInstances++;
            return queues.add(name, this);
        } finally {
            lock.unlock();
        }
    }

    private void startWorkers() {
        while (workers < settings.threads()) {
            Thread thread = new Thread(this::work);
            thread.setName("afterbay-maintenance-" + THREADS.incrementAndGet());
            thread.setDaemon(true);
            thread.setContextClassLoader(MaintenanceScheduler.class.getClassLoader());
            thread.start();
            workers++;
        }
    }

    /** Events arrived at the process in that time: λ of {@link BurstDelay}. */
    public void arrived(long events, long nanos) {
        locked(() -> delay.arrived(events, nanos));
    }

    /** Events were processed in that time while others always waited: C of {@link BurstDelay}. */
    public void drained(long events, long nanos) {
        locked(() -> delay.drained(events, nanos));
    }

    /**
     * Changes the limit of deferrable tasks, for example to that of {@link ConcurrencyKnee}. Those
     * that run go on.
     *
     * @param limit brought into 1 to the number of threads
     */
    public void setDeferrableLimit(int limit) {
        locked(() -> queues.setDeferrableLimit(Math.max(1, Math.min(limit, settings.threads()))));
    }

    public MaintenanceMetrics metrics() {
        lock.lock();
        try {
            return queues.metrics(clock.getAsLong());
        } finally {
            lock.unlock();
        }
    }

    /** Instances that are registered and not closed. */
    int openInstances() {
        lock.lock();
        try {
            return openInstances;
        } finally {
            lock.unlock();
        }
    }

    void clockChanged() {
        locked(() -> {});
    }

    void execute(MaintenanceInstance instance, Kind kind, Runnable task) {
        locked(
                () -> {
                    if (instance.isClosed) {
                        throw new RejectedExecutionException(
                                instance.name() + " is closed and takes no task (" + kind + ")");
                    }
                    queues.submit(instance, kind, task, clock.getAsLong());
                });
    }

    void checkpointBegan(MaintenanceInstance instance) {
        locked(
                () -> {
                    long now = clock.getAsLong();
                    rescheduleIf(!instance.isClosed && gate.began(instance.member, now), now);
                });
    }

    void checkpointEnded(MaintenanceInstance instance) {
        locked(
                () -> {
                    long now = clock.getAsLong();
                    rescheduleIf(gate.ended(instance.member, now), now);
                });
    }

    private void rescheduleIf(boolean gateChanged, long now) {
        if (gateChanged) {
            queues.reschedule(now);
        }
    }

    void close(MaintenanceInstance instance) {
        locked(
                () -> {
                    if (!instance.isClosed) {
                        instance.isClosed = true;
                        openInstances--;
                        long now = clock.getAsLong();
                        rescheduleIf(gate.allEnded(instance.member, now), now);
                        queues.release(instance);
                        queues.removeIfDone(instance);
                    }
                });
    }

    /** Changes something that threads may wait for. */
    private void locked(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void work() {
        boolean goesOn;
        do {
            goesOn = runNext();
        } while (goesOn);
    }

    /** In a method of its own: a waiting thread must not keep the last task, and its classes. */
    private boolean runNext() {
        Task task = next();
        if (task == null) {
            return false;
        }
        boolean threw = true;
        try {
            task.work.run();
            threw = false;
        } catch (Throwable e) { // the thread has other instances to serve
            report(e);
        } finally {
            Thread.interrupted(); // left by the task, and not meant for the next
            ended(task, threw);
        }
        return true;
    }

    private static void report(Throwable e) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (Throwable ignored) {
            // As the virtual machine does with what a handler throws.
        }
    }

    private void ended(Task task, boolean threw) {
        locked(() -> queues.ended(task, threw));
    }

    /** Waits for the next task; null to end the thread. */
    private @Nullable Task next() {
        lock.lock();
        try {
            for (; ; ) {
                Task task = queues.poll(clock.getAsLong());
                if (task != null) {
                    return task;
                }
                if (openInstances == 0 && !queues.hasTasks()) {
                    workers--;
                    return null;
                }
                await(queues.nanosToNext(clock.getAsLong()));
            }
        } finally {
            lock.unlock();
        }
    }

    private void await(long nanos) {
        try {
            changed.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Left by a task, or by a stranger: threads end with the last instance only.
        }
    }
}
