package io.afterbay.experiments.replay;

import io.afterbay.experiments.Labelled;

/** How the past is done once more. */
enum ReplayVariant implements Labelled {
    /** Not at all: what the machine does to the live job anyway. */
    NONE("none", Way.NOTHING, false),

    /** Ours, as fast as it goes. */
    UNTHROTTLED("unthrottled", Way.REPLAY, false),

    /** Ours, at a rate. */
    FIXED("fixed", Way.REPLAY, true),

    /** The same without the merge: the control, whose table must be wrong. */
    UNMERGED("unmerged", Way.REPLAY, true),

    /** What users do: the job a second time, from the oldest record on, in a group of its own. */
    SECOND_JOB("second-job", Way.SECOND_JOB, false),

    /** What users do: the job anew, whose source has the past and goes on live. */
    HYBRID("hybrid-source", Way.HYBRID, false);

    /** What runs. */
    enum Way {
        NOTHING,
        REPLAY,
        SECOND_JOB,
        HYBRID
    }

    private final String label;
    private final Way way;
    private final boolean hasRate;

    ReplayVariant(String label, Way way, boolean hasRate) {
        this.label = label;
        this.way = way;
        this.hasRate = hasRate;
    }

    @Override
    public String label() {
        return label;
    }

    Way way() {
        return way;
    }

    /** Whether it is throttled to a rate that is asked for. */
    boolean hasRate() {
        return hasRate;
    }

    /** Whether it is a replay of ours as users run it. */
    boolean isMerged() {
        return way == Way.REPLAY && this != UNMERGED;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static ReplayVariant named(String label) {
        return Labelled.named(ReplayVariant.class, label);
    }

    public static final class Converter extends Labelled.Converter<ReplayVariant> {
        public Converter() {
            super(ReplayVariant.class);
        }
    }
}
