package io.afterbay.stragglers;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.TestForm;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/** Random calls, beside a bucket in plain numbers, and all spans of them one by one. */
class ReplayBudgetModelTest {
    enum Call {
        EMITTED,
        REPLAY,
        BUSY,
        CALM
    }

    @Property(tries = TestForm.STRAGGLER_MODEL_TRIES, seed = TestForm.SEED)
    void agreesWithTheModel(
            @ForAll @IntRange(max = 20) int percent,
            @ForAll @IntRange(min = 1, max = 5) int burst,
            @ForAll("calls") List<Call> calls) {
        run(percent, burst, calls);
    }

    @Property(tries = TestForm.STRAGGLER_MODEL_TRIES_LONG)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void agreesWithTheModelInManyTries(
            @ForAll @IntRange(max = 20) int percent,
            @ForAll @IntRange(min = 1, max = 5) int burst,
            @ForAll("calls") List<Call> calls) {
        run(percent, burst, calls);
    }

    private static void run(int percent, int burst, List<Call> calls) {
        ReplayBudget budget = new ReplayBudget(percent / 100.0, burst);
        boolean[] replayed = new boolean[calls.size()];
        boolean isCalm = false;
        int hundredths = 0;
        for (int i = 0; i < calls.size(); i++) {
            switch (calls.get(i)) {
                case EMITTED -> {
                    budget.emitted();
                    hundredths = Math.min(100 * burst, hundredths + percent);
                }
                case REPLAY -> {
                    replayed[i] = budget.tryReplay();
                    assertThat(replayed[i]).isEqualTo(isCalm && hundredths >= 100);
                    hundredths -= replayed[i] ? 100 : 0;
                }
                case BUSY -> {
                    budget.utilisation(0.9, 0.1);
                    isCalm = false;
                }
                case CALM -> {
                    budget.utilisation(0.1, 0.1);
                    isCalm = true;
                }
            }
        }
        spansAreWithinTheBudget(percent, burst, calls, replayed);
    }

    private static void spansAreWithinTheBudget(
            int percent, int burst, List<Call> calls, boolean[] replayed) {
        for (int from = 0; from < calls.size(); from++) {
            int emitted = 0;
            int replays = 0;
            for (int to = from; to < calls.size(); to++) {
                emitted += calls.get(to) == Call.EMITTED ? 1 : 0;
                replays += replayed[to] ? 1 : 0;
                assertThat(100 * replays).isLessThanOrEqualTo(percent * emitted + 100 * burst);
            }
        }
    }

    @Provide
    Arbitrary<List<Call>> calls() {
        return Arbitraries.frequency(
                        Tuple.of(60, Call.EMITTED),
                        Tuple.of(30, Call.REPLAY),
                        Tuple.of(1, Call.BUSY),
                        Tuple.of(3, Call.CALM))
                .list()
                .ofMaxSize(300);
    }
}
