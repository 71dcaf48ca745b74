package io.afterbay.spark.publish;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Files in the order in which they were submitted, and which of them may be published: the order of
 * docs/spark-commit.md. Guarded by the lock of its {@link Publisher}.
 *
 * <pre>
 *   offsets/7 | state state state | commits/7 | offsets/8 | state ...
 *      LOG    |   in any order    |    LOG    |    LOG    |
 * </pre>
 *
 * <p>A LOG file goes only from the front, and when its gate is open. A STATE file passes
 * everything. Where the storage can, a LOG file is staged before its turn, which is only a renaming
 * then: staging is in no order, since nobody sees it.
 */
final class PublishQueue {
    /** Of the batches that are at work there are never more. */
    private static final int RECENT_MAX = 16;

    private final TreeMap<Long, PendingFile> files = new TreeMap<>();
    private final Map<String, PendingFile> byTarget = new HashMap<>();
    private final Deque<String> recentLog = new ArrayDeque<>();
    private final boolean canStage;
    private long lastTicket;
    private long bytes;

    /**
     * @param canStage see {@link Storage#canStage}
     */
    PublishQueue(boolean canStage) {
        this.canStage = canStage;
    }

    PendingFile add(
            Kind kind, String target, Path local, long size, boolean overwrites, Gate gate) {
        PendingFile file =
                new PendingFile(
                        ++lastTicket,
                        kind,
                        target,
                        local,
                        size,
                        overwrites,
                        byTarget.get(target),
                        gate);
        files.put(file.ticket, file);
        byTarget.put(target, file);
        bytes += size;
        return file;
    }

    /** The next to work on, or null if there is none now. What has its turn comes first. */
    @Nullable PendingFile next(long now) {
        PendingFile toStage = null;
        for (PendingFile file : files.values()) {
            if (file.nanosToNext(now) <= 0) {
                if (mayRun(file)) {
                    return file;
                }
                if (toStage == null && mayStage(file)) {
                    toStage = file;
                }
            }
        }
        return toStage;
    }

    /** What is to be done for a file now; whoever reveals it takes what is staged. */
    Step step(PendingFile file) {
        if (!hasItsTurn(file)) {
            return Step.STAGE;
        }
        return file.staged == null ? Step.WRITE : Step.REVEAL;
    }

    /** Until {@link #next} may have one, if nothing else changes. */
    long nanosToNext(long now) {
        long nanos = Long.MAX_VALUE;
        for (PendingFile file : files.values()) {
            if (mayRun(file) || mayStage(file)) {
                nanos = Math.min(nanos, file.nanosToNext(now));
            }
        }
        return nanos;
    }

    private boolean mayRun(PendingFile file) {
        return file.writers == 0 && hasItsTurn(file);
    }

    private boolean hasItsTurn(PendingFile file) {
        return (file.kind == Kind.STATE || (file.isReleased && files.firstKey() == file.ticket))
                && (file.lastVersion == null || file.lastVersion.isPublished);
    }

    private boolean mayStage(PendingFile file) {
        return canStage && file.writers == 0 && file.kind == Kind.LOG && file.staged == null;
    }

    /** It is published. */
    void remove(PendingFile file) {
        if (files.remove(file.ticket) != null) {
            file.isPublished = true;
            byTarget.remove(file.target, file);
            bytes -= file.bytes;
            if (file.kind == Kind.LOG) {
                remember(file.target);
            }
        }
    }

    /** It is in the storage, and nobody needs to look for it again. */
    void remember(String target) {
        recentLog.remove(target);
        recentLog.addLast(target);
        if (recentLog.size() > RECENT_MAX) {
            recentLog.removeFirst();
        }
    }

    /** Whether it is one of the last log files that were published from here, or found there. */
    boolean wasPublished(String target) {
        return recentLog.contains(target);
    }

    /** Null if there are none. */
    @Nullable PendingFile front() {
        return files.isEmpty() ? null : files.firstEntry().getValue();
    }

    /** The last submitted of that name. */
    @Nullable PendingFile find(String target) {
        return byTarget.get(target);
    }

    Collection<PendingFile> files() {
        return files.values();
    }

    /** What lies in the storage and is not seen: it is the caller's now. */
    List<Staged> takeStaged() {
        List<Staged> taken = new ArrayList<>();
        for (PendingFile file : files.values()) {
            if (file.staged != null) {
                taken.add(file.staged);
                file.staged = null;
            }
        }
        return taken;
    }

    /** Whether nothing is left of that ticket and of those before. */
    boolean isPublished(long ticket) {
        return files.isEmpty() || files.firstKey() > ticket;
    }

    /** 0 before the first. */
    long lastTicket() {
        return lastTicket;
    }

    int entries() {
        return files.size();
    }

    long bytes() {
        return bytes;
    }
}
