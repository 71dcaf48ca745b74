package io.afterbay.doctor.analysis;

import java.util.OptionalDouble;

/** What the logs show. */
public enum Verdict {
    /** Compactions begin together, far more often than by chance. */
    ALIGNED,
    /** More together than independent phases would, less than half as much as could be. */
    PARTLY_ALIGNED,
    /** As if each instance had a phase of its own. */
    NOT_ALIGNED,
    /** Nothing is claimed. */
    TOO_LITTLE_DATA;

    static final double ALIGNED_MIN = 0.5;

    /** More than is left of the cure at its worst: four triggers dealt out evenly give 0.25. */
    static final double PARTLY_MIN = 0.3;

    /**
     * With a trigger of 4, fewer than four have equal phases by chance in 1 of 16 cases or more.
     */
    static final int MIN_INSTANCES = 4;

    /** As many as four instances are: of fewer, by chance, all may have equal phases. */
    static final int MIN_PAIRS = 6;

    static final int MIN_COMPACTIONS = 2;

    /** Two rounds of RocksDB's default trigger. */
    static final int MIN_SLOTS = 8;

    static Verdict of(boolean isEnough, OptionalDouble within, OptionalDouble across) {
        if (!isEnough || (within.isEmpty() && across.isEmpty())) {
            return TOO_LITTLE_DATA;
        }
        double score = Math.max(within.orElse(0), across.orElse(0));
        if (score >= ALIGNED_MIN) {
            return ALIGNED;
        }
        return score >= PARTLY_MIN ? PARTLY_ALIGNED : NOT_ALIGNED;
    }
}
