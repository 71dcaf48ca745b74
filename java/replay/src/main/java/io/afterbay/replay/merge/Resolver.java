package io.afterbay.replay.merge;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Says of two rows of one key, one of the live job and one that a replay has made, which is to be
 * in the table (Samza, VLDB 2017, section 3.4.2: the merge of reprocessing is what developers
 * specify). Used by several threads, each with an instance of its own.
 *
 * <p>Of rows of the replay alone the newest version stays, and of equal ones the later row. Rows of
 * the live job alone stay in the order in which it wrote them.
 */
public interface Resolver extends Serializable {
    /**
     * What the row is a row of; null if it has no key. It tells as much apart as the key in Kafka:
     * rows of one key here that have several there end the replay, since none of them would hide
     * the other. All rows of one key must be in one partition, or nothing tells which of them is
     * last.
     */
    default byte @Nullable [] key(OutputRow row) {
        return row.key();
    }

    /** How new the row is: the larger the newer, for rows of both jobs. */
    long version(OutputRow row);

    /**
     * Whether a row of the replay stays although the live job wrote one of its key. What wins
     * against a version must win against all older ones.
     *
     * @param newestLive the newest version that the live job wrote of the key
     */
    default boolean replayedWins(long replayed, long newestLive) {
        return replayed > newestLive;
    }
}
