package io.afterbay.storm.workloads;

import io.afterbay.stragglers.LatencyBalance;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The paper's algorithm 2 at each of some senders, which know nothing of each other (section 4).
 * Safe for use by any thread.
 */
final class SenderBalances {
    private final LongSupplier nanoClock;
    private final int[] tasks;
    private final Map<Integer, LatencyBalance> bySender = new ConcurrentHashMap<>();

    /**
     * @param tasks that they send to
     */
    SenderBalances(LongSupplier nanoClock, int... tasks) {
        this.nanoClock = nanoClock;
        this.tasks = tasks;
    }

    /** The task for the next tuple of a sender. */
    int choose(int sender) {
        return bySender.computeIfAbsent(sender, this::balance).choose();
    }

    private LatencyBalance balance(int sender) {
        LatencyBalance balance = new LatencyBalance(nanoClock, sender);
        balance.setTasks(tasks);
        return balance;
    }

    /** A task has done a tuple of a sender, so long after it was sent. */
    void executed(int sender, int task, long latencyNanos) {
        LatencyBalance balance = bySender.get(sender);
        if (balance != null) {
            balance.completed(task, latencyNanos);
        }
    }
}
