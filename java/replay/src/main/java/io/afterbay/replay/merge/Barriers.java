package io.afterbay.replay.merge;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What an attempt before a failure wrote may be in the log, although nothing in the checkpoint
 * knows of it: sinks without transactions leave it there. So a restored attempt writes one row
 * again in each partition that its keys are in, before it can finish: when that comes back, all
 * that was before it has been read.
 *
 * <p>A partition that it learns of later has its barrier then. Rows of keys in partitions that it
 * never learns of need none: it has written them itself, and waits for them anyway.
 */
final class Barriers {
    /** A key in each partition. */
    private final Map<Integer, String> samples = new HashMap<>();

    private final boolean isRestored;

    /** With a barrier of this attempt. */
    private final Set<Integer> passed = new HashSet<>();

    private Barriers(boolean isRestored) {
        this.isRestored = isRestored;
    }

    static Barriers atFirst() {
        return new Barriers(false);
    }

    /** The samples, too, are to be shown to {@link #isDueAt}. */
    static Barriers restored(Map<Integer, String> samples) {
        Barriers barriers = new Barriers(true);
        barriers.samples.putAll(samples);
        return barriers;
    }

    /** Of a key that has something to write: whether that must be written once more. */
    boolean isDueAt(KeyMerge merge, String key) {
        int partition = merge.partition();
        if (partition == KeyMerge.NO_PARTITION || !merge.hasWinner()) {
            return false;
        }
        samples.putIfAbsent(partition, key);
        return isRestored && passed.add(partition);
    }

    /** For checkpoints. */
    Map<Integer, String> samples() {
        return samples;
    }
}
