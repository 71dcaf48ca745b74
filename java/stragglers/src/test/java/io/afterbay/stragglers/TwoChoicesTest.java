package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class TwoChoicesTest extends TaskChooserContract {
    private static final int FAST = 1;
    private static final int SLOW = 2;

    @Override
    TwoChoices open(long seed) {
        return new TwoChoices(clock, seed);
    }

    private TwoChoices ofTwo() {
        TwoChoices chooser = open(1);
        chooser.setTasks(FAST, SLOW);
        return chooser;
    }

    /** With two tasks, the two choices are both: nothing is random but ties. */
    private TwoChoices fastAndSlow(long fastNanos, long slowNanos) {
        TwoChoices chooser = ofTwo();
        complete(chooser, SLOW, slowNanos);
        complete(chooser, FAST, fastNanos);
        return chooser;
    }

    private void complete(TwoChoices chooser, int task, long nanos) {
        chooser.sent(task);
        clock.advance(nanos);
        chooser.completed(task, nanos);
    }

    @Test
    void countsWhatIsOutstanding() {
        TwoChoices chooser = ofTwo();
        chooser.sent(FAST);
        chooser.sent(FAST);
        chooser.sent(FAST);
        chooser.completed(FAST, 1);
        chooser.failed(FAST);
        assertThat(chooser.outstanding(FAST)).isEqualTo(1);
        assertThat(chooser.outstanding(SLOW)).isZero();
        assertThat(chooser.outstanding(99)).isZero();
    }

    @Test
    void whatWasNotSentIsNotTakenBack() {
        TwoChoices chooser = ofTwo();
        chooser.completed(FAST, 5);
        chooser.failed(FAST);
        assertThat(chooser.outstanding(FAST)).isZero();
        assertThat(chooser.serviceNanos(FAST)).isZero();
    }

    @Test
    void sendsMoreToTheFasterTaskUntilItsQueueIsAsLong() {
        TwoChoices chooser = fastAndSlow(4_000_000, 9_900_000);
        List<Integer> chosen = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int task = chooser.choose();
            chooser.sent(task);
            chosen.add(task);
        }
        // In ms: 4 against 9.9, 8 against 9.9, 12 against 9.9, and 12 and 16 against 19.8.
        assertThat(chosen).containsExactly(FAST, FAST, SLOW, FAST, FAST);
    }

    @Test
    void unknownTasksGetTuplesByTurns() {
        TwoChoices chooser = ofTwo();
        for (int i = 0; i < 10; i++) {
            chooser.sent(chooser.choose());
        }
        assertThat(chooser.outstanding(FAST)).isBetween(4, 6);
        assertThat(chooser.outstanding(SLOW)).isBetween(4, 6);
    }

    @Test
    void aNewTaskIsNotFlooded() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 2 * MILLIS);
        chooser.setTasks(FAST, 3);
        for (int i = 0; i < 10; i++) {
            chooser.sent(chooser.choose());
        }
        assertThat(chooser.outstanding(3)).isBetween(4, 6);
    }

    @Test
    void aNewTaskIsTriedWhereTheOthersAreIdle() {
        TwoChoices chooser = ofTwo();
        complete(chooser, FAST, 2 * MILLIS);
        clock.advance(10 * SECONDS);
        assertThat(slowOf(chooser)).isBetween(400, 600);
    }

    @Test
    void theTimeBehindOthersIsNotServiceTime() {
        TwoChoices chooser = ofTwo();
        for (int i = 0; i < 10; i++) {
            chooser.sent(FAST);
        }
        for (int i = 1; i <= 10; i++) {
            clock.advance(3 * MILLIS);
            chooser.completed(FAST, 3L * i * MILLIS);
        }
        assertThat(chooser.serviceNanos(FAST)).isEqualTo(3 * MILLIS);
    }

    @Test
    void theTimeBeforeATupleWasSentIsNotServiceTime() {
        TwoChoices chooser = ofTwo();
        complete(chooser, FAST, 3 * MILLIS);
        clock.advance(10 * SECONDS);
        complete(chooser, FAST, 3 * MILLIS);
        assertThat(chooser.serviceNanos(FAST)).isEqualTo(3 * MILLIS);
        // Two were sent, and the second is done first.
        chooser.sent(FAST);
        clock.advance(20 * MILLIS);
        chooser.sent(FAST);
        clock.advance(3 * MILLIS);
        chooser.completed(FAST, 3 * MILLIS);
        assertThat(chooser.serviceNanos(FAST)).isEqualTo(3 * MILLIS);
    }

    @Test
    void aTaskThatHangsIsLeftAloneAtOnce() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 2 * MILLIS);
        chooser.sent(SLOW);
        clock.advance(100 * MILLIS);
        for (int i = 0; i < 40; i++) {
            int task = chooser.choose();
            assertThat(task).isEqualTo(FAST);
            chooser.sent(task);
        }
    }

    @Test
    void aTaskThatWasSlowIsTriedAgain() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 200 * MILLIS);
        assertThat(chooser.choose()).isEqualTo(FAST);
        clock.advance(3 * SECONDS);
        chooser.sent(FAST);
        assertThat(chooser.choose()).isEqualTo(FAST);
        clock.advance(4 * SECONDS); // 200 ms have become less than 4 ms
        complete(chooser, FAST, 2 * MILLIS);
        assertThat(chooser.choose()).isEqualTo(SLOW);
    }

    @Test
    void aTryOfATaskThatIsStillSlowCostsOneTuple() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 200 * MILLIS);
        clock.advance(60 * SECONDS);
        chooser.sent(FAST);
        assertThat(chooser.choose()).isEqualTo(SLOW);
        chooser.sent(SLOW);
        for (int i = 0; i < 100; i++) {
            assertThat(chooser.choose()).isEqualTo(FAST); // while it is tried
            complete(chooser, FAST, 2 * MILLIS);
        }
        chooser.completed(SLOW, 200 * MILLIS);
        assertThat(chooser.serviceNanos(SLOW)).isEqualTo(200 * MILLIS);
        assertThat(chooser.choose()).isEqualTo(FAST);
    }

    @Test
    void aTryOfATaskThatHasRecoveredIsEnough() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 200 * MILLIS);
        clock.advance(60 * SECONDS);
        complete(chooser, SLOW, 2 * MILLIS);
        assertThat(chooser.serviceNanos(SLOW)).isEqualTo(2 * MILLIS);
    }

    @Test
    void ageingMakesNoTaskLookFasterThanTheOther() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 200 * MILLIS);
        clock.advance(1000 * SECONDS);
        for (int i = 0; i < 10; i++) {
            chooser.sent(chooser.choose());
        }
        assertThat(chooser.outstanding(SLOW)).isEqualTo(1);
    }

    @Test
    void whoIsNearlyAsFastGetsAsMuch() {
        TwoChoices chooser = fastAndSlow(10 * MILLIS, 12 * MILLIS);
        assertThat(slowOf(chooser)).isBetween(400, 600);
        assertThat(slowOf(fastAndSlow(10 * MILLIS, 13 * MILLIS))).isZero();
    }

    /** Of 1000 choices. */
    private static int slowOf(TwoChoices chooser) {
        int count = 0;
        for (int i = 0; i < 1000; i++) {
            count += chooser.choose() == SLOW ? 1 : 0;
        }
        return count;
    }

    @Test
    void failuresMakeNoTaskLookFaster() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 4 * MILLIS);
        for (int i = 0; i < 1000; i++) {
            chooser.sent(SLOW);
            clock.advance(10);
            chooser.failed(SLOW);
        }
        assertThat(chooser.serviceNanos(SLOW)).isEqualTo(4 * MILLIS);
        chooser.sent(SLOW);
        clock.advance(30 * SECONDS); // and this one is lost
        chooser.failed(SLOW);
        assertThat(chooser.serviceNanos(SLOW)).isGreaterThan(29 * SECONDS);
    }

    @Test
    void aNewTaskThatOnlyFailsLooksNoFasterThanTheOther() {
        TwoChoices chooser = ofTwo();
        complete(chooser, FAST, 2 * MILLIS);
        chooser.sent(SLOW);
        clock.advance(10);
        chooser.failed(SLOW);
        assertThat(chooser.serviceNanos(SLOW)).isZero(); // unknown
        assertThat(slowOf(chooser)).isBetween(400, 600);
    }

    @Test
    void aClockThatIsSetBackIsFollowed() {
        TwoChoices chooser = ofTwo();
        clock.now = 1000 * SECONDS;
        complete(chooser, FAST, 2 * MILLIS);
        complete(chooser, SLOW, 2 * MILLIS);
        chooser.sent(SLOW);
        clock.now = 0;
        chooser.completed(SLOW, 2 * MILLIS);
        for (int i = 0; i < 100; i++) {
            complete(chooser, FAST, 20 * MILLIS);
            complete(chooser, SLOW, 40 * MILLIS);
        }
        assertThat(chooser.serviceNanos(FAST)).isBetween(17 * MILLIS, 20 * MILLIS);
        assertThat(chooser.serviceNanos(SLOW)).isBetween(35 * MILLIS, 40 * MILLIS);
    }

    @Test
    void whatIsKnownOfATaskThatStaysIsKept() {
        TwoChoices chooser = fastAndSlow(2 * MILLIS, 200 * MILLIS);
        chooser.sent(SLOW);
        chooser.setTasks(0, SLOW, 9);
        assertThat(chooser.serviceNanos(SLOW)).isEqualTo(200 * MILLIS);
        assertThat(chooser.outstanding(SLOW)).isEqualTo(1);
        chooser.setTasks(0, 9);
        chooser.setTasks(0, SLOW, 9);
        assertThat(chooser.serviceNanos(SLOW)).isZero();
    }

    @Test
    void noCountIsLostBetweenThreads() throws Exception {
        TwoChoices chooser = ofTwo();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                done.add(threads.submit(() -> sendAndTakeBack(chooser, 20_000)));
            }
            for (Future<?> each : done) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(chooser.outstanding(FAST) + chooser.outstanding(SLOW)).isEqualTo(4 * 20_000);
    }

    private static void sendAndTakeBack(TwoChoices chooser, int tuples) {
        for (int i = 0; i < tuples; i++) {
            chooser.sent(FAST);
            chooser.sent(SLOW);
            chooser.completed(chooser.choose(), 1000);
        }
    }
}
