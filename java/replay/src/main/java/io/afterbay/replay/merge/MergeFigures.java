package io.afterbay.replay.merge;

import java.io.Serializable;

/**
 * What a merge has done so far, over restores.
 *
 * @param conflicts rows of the replay that a row of the live job won against, before or after they
 *     were written
 * @param corrections rows that were written once more, since what came after them in the log was
 *     not what wins
 * @param unsettled keys that the merge waits for to come back from the log
 */
public record MergeFigures(long conflicts, long corrections, long unsettled)
        implements Serializable {
    static final MergeFigures NONE = new MergeFigures(0, 0, 0);

    public MergeFigures plus(MergeFigures other) {
        return new MergeFigures(
                conflicts + other.conflicts,
                corrections + other.corrections,
                unsettled + other.unsettled);
    }
}
