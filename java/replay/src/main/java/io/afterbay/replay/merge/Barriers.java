package io.afterbay.replay.merge;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What an attempt that failed wrote may be in the log, although nothing that is known now says so:
 * sinks without transactions leave it there. All of it is before whatever this attempt writes. So a
 * row of this attempt must have come back from each partition before it may finish; where none has,
 * it writes one again.
 */
final class Barriers {
    /** Of each partition that is known, a key that has something to write. */
    private final Map<Integer, String> samples = new HashMap<>();

    /** Of which a row of this attempt has come back. */
    private final Set<Integer> passed = new HashSet<>();

    /**
     * @param samples of the checkpoint that this attempt begins with
     */
    Barriers(Map<Integer, String> samples) {
        this.samples.putAll(samples);
    }

    void met(KeyMerge merge, String key) {
        if (merge.partition() != KeyMerge.NO_PARTITION && merge.hasWinner()) {
            samples.putIfAbsent(merge.partition(), key);
        }
    }

    /** A row of this attempt has come back. */
    void passed(int partition) {
        passed.add(partition);
    }

    /** Keys to be written once more before this attempt may finish. */
    List<String> missing() {
        return samples.entrySet().stream()
                .filter(sample -> !passed.contains(sample.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** For checkpoints. */
    Map<Integer, String> samples() {
        return samples;
    }
}
