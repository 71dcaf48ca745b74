package io.afterbay.maintenance;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One instance's handle to a {@link MaintenanceScheduler}, for example of a state store. Safe for
 * use by any thread; no call waits for a task. Bounds no queue: instances bound what they have
 * under way.
 */
public final class MaintenanceInstance implements AutoCloseable {
    private final String name;
    private final MaintenanceScheduler scheduler;

    // Guarded by the scheduler's lock.
    final int place;
    final Lane flushes;
    final Lane deferrable;
    final BurstGate.Member member = new BurstGate.Member();
    boolean isClosed;

    MaintenanceInstance(String name, MaintenanceScheduler scheduler, int place, long turn) {
        this.name = name;
        this.scheduler = scheduler;
        this.place = place;
        this.flushes = new Lane(turn);
        this.deferrable = new Lane(turn);
    }

    public String name() {
        return name;
    }

    /**
     * In [0, 1): of the order of registration, where places of closed instances are taken again.
     * The same as long as the instance is open, not after a restart; {@link Spread#ofName} is.
     */
    public double phase() {
        return Spread.ofPlace(place);
    }

    /**
     * Queues a task. Tasks of an instance begin in the order of submission, flushes apart from the
     * other kinds; several may run at once.
     *
     * @throws RejectedExecutionException after {@link #close}
     */
    public void execute(Kind kind, Runnable task) {
        scheduler.execute(this, kind, Objects.requireNonNull(task, "task"));
    }

    /** {@link #execute} for one kind. */
    public Executor executor(Kind kind) {
        return task -> execute(kind, task);
    }

    /**
     * A checkpoint of this instance begins to flush: no deferrable task of any instance begins
     * before its deadline, until all checkpoints that began have ended and the delay of the burst
     * is over. Ignored after {@link #close}.
     */
    public void checkpointBegan() {
        scheduler.checkpointBegan(this);
    }

    /**
     * The flushes of a checkpoint of this instance have ended, also if it failed. Ignored without a
     * beginning.
     */
    public void checkpointEnded() {
        scheduler.checkpointEnded(this);
    }

    /** Of its scheduler, that is of all instances. */
    public MaintenanceMetrics processMetrics() {
        return scheduler.metrics();
    }

    /**
     * Takes no more tasks, ends the instance's checkpoints, and returns at once. What is queued is
     * neither dropped nor held back any longer, but begins as soon as there is a thread and the
     * limit allows: somebody may wait for it, and a task whose owner is gone can tell by itself.
     * Closing the last instance ends the threads once all tasks have ended. Idempotent.
     */
    @Override
    public void close() {
        scheduler.close(this);
    }
}
