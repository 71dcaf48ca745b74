package io.afterbay.storm;

import io.afterbay.storm.ReplayedTask.Emission;
import io.afterbay.stragglers.AdaptiveTimeout;
import io.afterbay.stragglers.ReplayBudget;
import io.afterbay.stragglers.Replays;

/** Replays by a clock that is set by hand: of what is older than 10 ms, within an open budget. */
final class LateAfter10Ms {
    static final long MILLIS = 1_000_000;

    final ReplayBudget budget = new ReplayBudget(0.2, 10);
    final Replays<Emission> replays;

    private long now = 1;

    LateAfter10Ms() {
        AdaptiveTimeout timeout = new AdaptiveTimeout(() -> now);
        for (int i = 0; i < 100; i++) {
            advance(10);
            timeout.record(10 * MILLIS);
        }
        budget.utilisation(0, 0);
        replays = new Replays<>(timeout, budget, () -> now);
    }

    void advance(long ms) {
        now += ms * MILLIS;
    }

    /** Fills the bucket. */
    void fill() {
        for (int i = 0; i < 100; i++) {
            budget.emitted();
        }
    }
}
