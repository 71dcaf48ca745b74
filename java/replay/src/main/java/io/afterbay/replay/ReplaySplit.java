package io.afterbay.replay;

import java.util.UUID;
import org.apache.flink.api.connector.source.SourceSplit;
import org.jspecify.annotations.Nullable;

/**
 * What a reader keeps in a checkpoint: a split of the source that is replayed, or, beside those,
 * what this reader has counted. A count has a split of its own, since the splits of a reader may be
 * finished while it counts on.
 *
 * @param splitId of the split, or of the count
 * @param split null if it is a count
 * @param records that have passed, of a count
 * @param newestMs the newest time that was read, of a count
 */
record ReplaySplit<SplitT extends SourceSplit>(
        String splitId, @Nullable SplitT split, long records, long newestMs)
        implements SourceSplit {
    private static final String COUNT = "afterbay-replay-";

    static <SplitT extends SourceSplit> ReplaySplit<SplitT> of(SplitT split) {
        return new ReplaySplit<>(split.splitId(), split, 0, 0);
    }

    static <SplitT extends SourceSplit> ReplaySplit<SplitT> count(
            String id, long records, long newestMs) {
        return new ReplaySplit<>(id, null, records, newestMs);
    }

    /** A name that no other count has, of whichever reader and attempt. */
    static String newCountId() {
        return COUNT + UUID.randomUUID();
    }
}
