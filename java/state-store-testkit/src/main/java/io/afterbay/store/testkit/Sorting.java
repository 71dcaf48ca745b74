package io.afterbay.store.testkit;

import java.util.Comparator;

/** Orders of triggers. */
final class Sorting {
    /** What peek and poll promise. */
    static final Comparator<TriggerAt> FIRING_TIES =
            Comparator.comparingLong(TriggerAt::timestamp)
                    .thenComparingInt(trigger -> trigger.place().keyGroup());

    /** A total order that agrees with it. */
    static final Comparator<TriggerAt> FIRING = FIRING_TIES.thenComparing(TriggerAt::place);

    private Sorting() {}
}
