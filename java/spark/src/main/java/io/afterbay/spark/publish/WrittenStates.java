package io.afterbay.spark.publish;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The state files of this process, from their creation until the storage has them, and what is
 * still to be reported of them. A name stands for several files (a changelog and its checksum): all
 * are created before the first is closed, and the name is durable when all are published.
 *
 * <p>Safe for use by any thread.
 */
public final class WrittenStates {
    private static final class State {
        final String checkpoint;
        int open;
        boolean isCancelled;

        State(String checkpoint) {
            this.checkpoint = checkpoint;
        }
    }

    private final String writer;
    private final Map<String, State> waiting = new HashMap<>();
    private final Map<String, Set<String>> durable = new HashMap<>();
    private final Map<String, String> failures = new HashMap<>();
    private long sequence;

    /**
     * @param writer name of this process
     */
    public WrittenStates(String writer) {
        this.writer = writer;
    }

    public synchronized void created(String checkpoint, String name) {
        waiting.computeIfAbsent(name, n -> new State(checkpoint)).open++;
    }

    /** One of its files will not be written: it is never durable. */
    public synchronized void cancelled(String name) {
        State state = waiting.get(name);
        if (state != null) {
            state.isCancelled = true;
            close(name, state);
        }
    }

    public synchronized void published(String name) {
        State state = waiting.get(name);
        if (state != null && close(name, state) && !state.isCancelled) {
            durable.computeIfAbsent(state.checkpoint, c -> new HashSet<>()).add(name);
            notifyAll();
        }
    }

    private boolean close(String name, State state) {
        boolean isEnded = --state.open == 0;
        if (isEnded) {
            waiting.remove(name);
        }
        return isEnded;
    }

    /** Nothing more will be published there: what waits is lost. */
    public synchronized void failed(String checkpoint, String reason) {
        waiting.values().removeIf(s -> s.checkpoint.equals(checkpoint));
        failures.put(checkpoint, reason);
        notifyAll();
    }

    /** Waits until there is something to report, or for that time. */
    public synchronized void awaitNews(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        long left = nanos;
        while (durable.isEmpty() && failures.isEmpty() && left > 0) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
            left = deadline - System.nanoTime();
        }
    }

    /**
     * All that was not confirmed, and all that waits.
     *
     * @param seenRound the last answer
     * @param busy checkpoints to which this process has something to write
     */
    public synchronized WriterReport report(long seenRound, Set<String> busy, boolean isLast) {
        Map<String, Set<String>> there = new HashMap<>();
        durable.forEach((checkpoint, names) -> there.put(checkpoint, Set.copyOf(names)));
        return new WriterReport(
                writer, ++sequence, seenRound, there, waiting.keySet(), busy, failures, isLast);
    }

    /** The report was answered: what is in it need not be said again. */
    public synchronized void confirmed(WriterReport report) {
        report.durable().forEach(this::forget);
        report.failures().forEach(failures::remove);
    }

    private void forget(String checkpoint, Set<String> names) {
        Set<String> left = durable.getOrDefault(checkpoint, new HashSet<>());
        left.removeAll(names);
        if (left.isEmpty()) {
            durable.remove(checkpoint);
        }
    }
}
