package io.afterbay.replay;

import io.afterbay.replay.ReplayEnumeratorState.Count;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the readers of a source have told, added up so that each record counts once.
 *
 * <p>A count goes back with its reader when that is restored. Two cases need care. A reader that
 * fails before its count is in a checkpoint comes back with another one: what it had told is
 * forgotten when it registers. And a task that has finished is in no later checkpoint, and comes
 * back with nothing: so the final counts of a complete checkpoint stay whatever registers.
 *
 * <p>Used by the coordinator's thread only.
 */
final class Counts {
    private record Told(int subtask, Count count) {}

    private record Reader(long records, long newestMs, boolean isHeldBack, boolean hasEnded) {}

    /** Of a count that came from a checkpoint, until its reader tells of it. */
    private static final int NOBODY = -1;

    private final long fromMs;
    private final Map<String, Told> counts = new HashMap<>();
    private final Map<Integer, Reader> readers = new HashMap<>();

    /** By checkpoint, those that are not complete yet. */
    private final TreeMap<Long, Set<String>> finalAt = new TreeMap<>();

    private Set<String> finalInCheckpoint = new HashSet<>();

    /**
     * @param fromMs the beginning of the range
     */
    Counts(long fromMs) {
        this.fromMs = fromMs;
    }

    void restore(Map<String, Count> checkpoint) {
        checkpoint.forEach((id, count) -> counts.put(id, new Told(NOBODY, count)));
        finalInCheckpoint = finals();
    }

    private Set<String> finals() {
        Set<String> finals = new HashSet<>();
        counts.forEach(
                (id, told) -> {
                    if (told.count().isFinal()) {
                        finals.add(id);
                    }
                });
        return finals;
    }

    Map<String, Count> snapshot(long checkpointId) {
        finalAt.put(checkpointId, finals());
        Map<String, Count> snapshot = new HashMap<>();
        counts.forEach((id, told) -> snapshot.put(id, told.count()));
        return snapshot;
    }

    void complete(long checkpointId) {
        Set<String> finals = finalAt.get(checkpointId);
        if (finals != null) {
            finalInCheckpoint = finals;
        }
        finalAt.headMap(checkpointId, true).clear();
    }

    /** A reader registers, for the first time or after a failure. */
    void registered(int subtask) {
        readers.remove(subtask);
        counts.entrySet()
                .removeIf(
                        count ->
                                count.getValue().subtask() == subtask
                                        && !finalInCheckpoint.contains(count.getKey()));
    }

    void told(int subtask, CountEvent event) {
        long records = 0;
        for (Map.Entry<String, Long> count : event.records().entrySet()) {
            records += count.getValue();
            counts.put(
                    count.getKey(),
                    new Told(subtask, new Count(count.getValue(), event.hasEnded())));
        }
        readers.put(
                subtask,
                new Reader(records, event.newestMs(), event.isHeldBack(), event.hasEnded()));
    }

    /** Whether as many readers have told something as there are. */
    boolean areKnown(int parallelism) {
        return readers.size() >= parallelism;
    }

    boolean haveAllEnded(int parallelism) {
        return areKnown(parallelism) && readers.values().stream().allMatch(Reader::hasEnded);
    }

    boolean hasEnded(int subtask) {
        Reader reader = readers.get(subtask);
        return reader != null && reader.hasEnded();
    }

    boolean isHeldBack(int subtask) {
        Reader reader = readers.get(subtask);
        return reader == null || reader.isHeldBack();
    }

    /** That this reader has told of, those of others that it took over included. */
    long records(int subtask) {
        Reader reader = readers.get(subtask);
        return reader == null ? 0 : reader.records();
    }

    long records() {
        return counts.values().stream().mapToLong(told -> told.count().records()).sum();
    }

    /** Up to which all have read that have not ended. */
    long reachedMs() {
        return readers.values().stream()
                .filter(reader -> !reader.hasEnded())
                .mapToLong(Reader::newestMs)
                .min()
                .orElse(fromMs);
    }
}
