package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.stragglers.Replays.Incarnation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplaysTest {
    private final ManualClock clock = new ManualClock();
    private final AdaptiveTimeout timeout = new AdaptiveTimeout(clock);
    private final ReplayBudget budget = new ReplayBudget(0.2, 10);
    private final Replays<String> replays = new Replays<>(timeout, budget, clock);

    /** A timeout of some 10 ms, and 10 replays. */
    @BeforeEach
    void warmUp() {
        budget.utilisation(0, 0);
        for (int i = 0; i < 100; i++) {
            Incarnation<String> tuple = replays.emit("warm-up");
            clock.advance(10 * MILLIS);
            replays.finished(tuple);
        }
        assertThat(timeout.timeoutNanos() / MILLIS).isEqualTo(10);
        assertThat(replays.inFlight()).isZero();
    }

    @Test
    void aTupleThatIsLateIsReplayedOnce() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(9 * MILLIS);
        assertThat(replays.next()).isNull();
        clock.advance(2 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replay.content()).isEqualTo("a");
        assertThat(replay.isReplay()).isTrue();
        assertThat(tuple.isReplay()).isFalse();
        assertThat(replay.sentNanos() - tuple.sentNanos()).isEqualTo(11 * MILLIS);
        clock.advance(SECONDS);
        assertThat(replays.next()).isNull();
        assertThat(replays.inFlight()).isEqualTo(1);
    }

    @Test
    void theOldestGoesFirst() {
        replays.emit("a");
        Incarnation<String> finished = replays.emit("b");
        replays.emit("c");
        clock.advance(MILLIS);
        replays.emit("d");
        replays.finished(finished);
        clock.advance(20 * MILLIS);
        assertThat(replays.next().content()).isEqualTo("a");
        assertThat(replays.next().content()).isEqualTo("c");
        assertThat(replays.next().content()).isEqualTo("d");
        assertThat(replays.next()).isNull();
    }

    @Test
    void aReplayKnowsTheFirstHopsOfTheOriginal() {
        Incarnation<String> tuple = replays.emit("a");
        tuple.sentTo(7, 12);
        clock.advance(20 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replay.original().hops()).containsExactly(7, 12);
        assertThat(replay.hops()).isEmpty();
    }

    @Test
    void nothingIsReplayedOnceATupleHasFinished() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        replays.finished(tuple);
        assertThat(replays.next()).isNull();
    }

    @Test
    void theFirstIncarnationToFinishCounts() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replays.finished(replay)).isTrue();
        assertThat(replays.finished(tuple)).isFalse();
        assertThat(replays.replaysThatWon()).isEqualTo(1);
        assertThat(replays.inFlight()).isZero();
    }

    @Test
    void aReplayThatIsSecondDoesNotCount() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replays.finished(tuple)).isTrue();
        assertThat(replays.failed(replay)).isFalse();
        assertThat(replays.replaysThatWon()).isZero();
    }

    @Test
    void aTupleHasFailedOnceAllOfItsIncarnationsHave() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replays.failed(tuple)).isFalse();
        assertThat(replays.inFlight()).isEqualTo(1);
        assertThat(replays.failed(replay)).isTrue();
        assertThat(replays.inFlight()).isZero();
    }

    @Test
    void aFailedOriginalMayBeSavedByItsReplay() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replays.failed(tuple)).isFalse();
        assertThat(replays.finished(replay)).isTrue();
    }

    @Test
    void aTupleThatHasFailedIsNotReplayed() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        assertThat(replays.failed(tuple)).isTrue();
        assertThat(replays.next()).isNull();
    }

    @Test
    void anEndThatIsToldTwiceCountsOnce() {
        Incarnation<String> tuple = replays.emit("a");
        clock.advance(20 * MILLIS);
        Incarnation<String> replay = replays.next();
        assertThat(replays.failed(tuple)).isFalse();
        assertThat(replays.failed(tuple)).isFalse();
        assertThat(replays.finished(tuple)).isFalse();
        assertThat(replays.finished(replay)).isTrue();
        assertThat(replays.finished(replay)).isFalse();
        assertThat(replays.inFlight()).isZero();
    }

    @Test
    void theBudgetIsTheLimit() {
        for (int i = 0; i < 100; i++) {
            replays.emit("late");
        }
        clock.advance(20 * MILLIS);
        int count = 0;
        while (replays.next() != null) {
            count++;
        }
        assertThat(count).isEqualTo(10); // the burst
        budget.utilisation(0.9, 0.1);
        for (int i = 0; i < 100; i++) {
            replays.emit("later");
        }
        assertThat(replays.next()).isNull();
        budget.utilisation(0.1, 0.1);
        assertThat(replays.next().content()).isEqualTo("late");
    }

    @Test
    void nothingIsAskedOfTheBudgetWhileNothingIsLate() {
        long refusals = budget.refusals();
        replays.next();
        replays.emit("a");
        replays.next();
        assertThat(budget.refusals()).isEqualTo(refusals);
    }

    @Test
    void aClockThatGoesBackReplaysNothing() {
        replays.emit("a");
        clock.now = 0;
        assertThat(replays.next()).isNull();
    }

    @Test
    void theLatencyOfATupleIsFromItsFirstEmission() {
        long before = timeout.timeoutNanos();
        while (timeout.timeoutNanos() == before) {
            Incarnation<String> tuple = replays.emit("a");
            clock.advance(30 * MILLIS);
            Incarnation<String> replay = replays.next();
            clock.advance(2 * MILLIS);
            if (replay == null) {
                replays.failed(tuple);
            } else {
                replays.finished(replay);
            }
        }
        assertThat(timeout.timeoutNanos() / MILLIS).isEqualTo(32);
    }
}
