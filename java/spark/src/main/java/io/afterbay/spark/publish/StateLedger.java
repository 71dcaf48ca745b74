package io.afterbay.spark.publish;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which state files are in the storage, as the processes report that write them; held by the one
 * that writes the log. Its gates are what a commit waits for.
 *
 * <pre>
 *   writer: created -> waiting -> durable --report--> ledger --gate--> commits/N
 *              |          |                              |
 *              +----------+------ the process ends ----> lost: the gate fails
 * </pre>
 *
 * <p><b>A file that nobody holds is lost.</b> The ledger may say so of a file only after each
 * writer has made a report later than the commit that names it: a task ends its files before the
 * commit is written, so each of them is in such a report, waiting or durable, if its writer lives.
 * That order needs no clock: {@link #require} begins a round, reports are answered with the last
 * round, and a report says which answer its writer had seen.
 *
 * <p><b>A writer that cannot publish</b> has nothing waiting any more. Only a commit that names one
 * of its files fails by that: the writer may tell of files of an earlier run, or tell it again.
 *
 * <p>A writer that is silent for too long counts as ended: nobody waits for it for ever.
 *
 * <p>Safe for use by any thread.
 */
public final class StateLedger {
    /** After news that a writer has ended, its last report may still be on its way. */
    static final long GRACE_NANOS = 3_000_000_000L;

    /**
     * Whoever waits for a gate asks it several times a second. If nobody did, this process may have
     * stood still, and reports may lie unread: writers get the grace then, too.
     */
    static final long LOOK_NANOS_MAX = 1_000_000_000L;

    /** How often somebody who waits looks whether writers are silent. */
    private static final long LOOK_NANOS = LOOK_NANOS_MAX / 4;

    /** So many writers that ended are named in messages. */
    private static final int ENDED_MAX = 8;

    private static final class Writer {
        long sequence;
        long seenRound;
        long silentAfterNanos;
        Set<String> waiting = Set.of();
        Set<String> busy = Set.of();

        void aliveAtLeastUntil(long nanos) {
            if (silentAfterNanos - nanos < 0) {
                silentAfterNanos = nanos;
            }
        }
    }

    private final long silenceNanosMax;
    private final LongSupplier clock;
    private final Map<String, Writer> writers = new HashMap<>();
    private final Map<String, Set<String>> durable = new HashMap<>();

    /** By checkpoint, why a writer could not publish, until a commit goes on. */
    private final Map<String, String> failures = new HashMap<>();

    private long round;
    private long lastLookNanos;
    private long lost;
    private final Deque<String> ended = new ArrayDeque<>();

    /**
     * @param silenceNanosMax the longest time without a report of a writer
     */
    public StateLedger(long silenceNanosMax) {
        this(silenceNanosMax, System::nanoTime);
    }

    StateLedger(long silenceNanosMax, LongSupplier clock) {
        this.silenceNanosMax = silenceNanosMax;
        this.clock = clock;
        this.lastLookNanos = clock.getAsLong();
    }

    /**
     * A gate that opens when the storage has all of these files.
     *
     * @param version of all of them; files up to that version that no commit has named are
     *     forgotten when it opens
     * @param names version and unique id
     */
    public synchronized Gate require(String checkpoint, long version, Set<String> names) {
        return new Required(checkpoint, version, names, ++round);
    }

    /**
     * @return the round, for the next report of this writer
     */
    public synchronized long report(WriterReport report) {
        report.durable()
                .forEach(
                        (c, names) ->
                                durable.computeIfAbsent(c, x -> new HashSet<>()).addAll(names));
        failures.putAll(report.failures());
        Writer writer = writers.computeIfAbsent(report.writer(), w -> new Writer());
        if (report.sequence() > writer.sequence) {
            writer.sequence = report.sequence();
            writer.seenRound = report.seenRound();
            writer.waiting = report.waiting();
            writer.busy = report.busy();
            writer.silentAfterNanos = clock.getAsLong() + silenceNanosMax;
        }
        if (report.isLast()) {
            end(report.writer(), writer);
            writers.remove(report.writer());
        }
        notifyAll();
        return round;
    }

    /**
     * Waits until each writer has said, in a report from now on, that it writes nothing to that
     * checkpoint, or has ended; or for that time.
     *
     * @return whether it is so
     */
    public synchronized boolean awaitIdle(String checkpoint, long nanosMax)
            throws InterruptedException {
        Map<String, Long> before = new HashMap<>();
        writers.forEach((name, writer) -> before.put(name, writer.sequence));
        long deadline = System.nanoTime() + nanosMax;
        while (isBusy(checkpoint, before)) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LOOK_NANOS));
        }
        return true;
    }

    /**
     * @param before last reports that do not count
     */
    private boolean isBusy(String checkpoint, Map<String, Long> before) {
        removeSilent();
        return writers.entrySet().stream()
                .anyMatch(
                        w ->
                                w.getValue().busy.contains(checkpoint)
                                        || w.getValue().sequence
                                                <= before.getOrDefault(w.getKey(), 0L));
    }

    /** The writer has ended, or soon will; its last reports may still come. */
    public synchronized void gone(String name) {
        Writer writer = writers.get(name);
        if (writer != null) {
            long graceEnd = clock.getAsLong() + GRACE_NANOS;
            if (graceEnd - writer.silentAfterNanos < 0) {
                writer.silentAfterNanos = graceEnd;
            }
        }
    }

    /** Writers that ended and had files in their last report that they had not published. */
    public synchronized long lostWriters() {
        return lost;
    }

    private void removeSilent() {
        long now = clock.getAsLong();
        if (now - lastLookNanos > LOOK_NANOS_MAX) {
            writers.values().forEach(w -> w.aliveAtLeastUntil(now + GRACE_NANOS));
        }
        lastLookNanos = now;
        for (Iterator<Map.Entry<String, Writer>> i = writers.entrySet().iterator(); i.hasNext(); ) {
            Map.Entry<String, Writer> entry = i.next();
            if (now - entry.getValue().silentAfterNanos > 0) {
                end(entry.getKey(), entry.getValue());
                i.remove();
            }
        }
    }

    private void end(String name, Writer writer) {
        if (!writer.waiting.isEmpty()) {
            lost++;
        }
        ended.addFirst(name);
        if (ended.size() > ENDED_MAX) {
            ended.removeLast();
        }
    }

    private @Nullable String lostOf(Set<String> missing, long since) {
        for (String name : missing) {
            if (writers.values().stream()
                    .noneMatch(w -> w.seenRound < since || w.waiting.contains(name))) {
                return name;
            }
        }
        return null;
    }

    private void forget(String checkpoint, long version) {
        Set<String> names = durable.getOrDefault(checkpoint, new HashSet<>());
        names.removeIf(n -> Long.parseLong(n.substring(0, n.indexOf('_'))) <= version);
        if (names.isEmpty()) {
            durable.remove(checkpoint);
        }
        failures.remove(checkpoint);
    }

    private PublishException nobodyHas(String name, String checkpoint) {
        String reason = failures.get(checkpoint);
        return new PublishException(
                "state file "
                        + name
                        + " was not published, and no executor has it"
                        + (reason == null ? "" : ": " + reason)
                        + ". Ended, last first: "
                        + ended
                        + ". The batch runs again when the query is restarted",
                null);
    }

    private final class Required implements Gate {
        private final String checkpoint;
        private final long version;
        private final long since;
        private final Set<String> missing;

        Required(String checkpoint, long version, Set<String> names, long since) {
            this.checkpoint = checkpoint;
            this.version = version;
            this.since = since;
            this.missing = new HashSet<>(names);
        }

        @Override
        public boolean isOpen() throws PublishException {
            synchronized (StateLedger.this) {
                missing.removeAll(durable.getOrDefault(checkpoint, Set.of()));
                if (missing.isEmpty()) {
                    forget(checkpoint, version);
                    return true;
                }
                removeSilent();
                String name = lostOf(missing, since);
                if (name != null) {
                    throw nobodyHas(name, checkpoint);
                }
                return false;
            }
        }

        @Override
        public String waitsFor() {
            synchronized (StateLedger.this) {
                return missing.size()
                        + " state files of "
                        + writers.size()
                        + " executors, such as "
                        + missing.stream().sorted().findFirst().orElse("none");
            }
        }
    }
}
