package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Two choices of a source that hears of the end of a path only. */
class ByAcksTest extends TaskChooserContract {
    private static final int ONE = 1;
    private static final int OTHER = 2;

    @Override
    TwoChoices open(long seed) {
        return TwoChoices.byAcks(clock, seed);
    }

    private TwoChoices ofTwo() {
        TwoChoices chooser = open(1);
        chooser.setTasks(ONE, OTHER);
        return chooser;
    }

    private void complete(TwoChoices chooser, int task, long nanos) {
        chooser.sent(task);
        clock.advance(nanos);
        chooser.completed(task, nanos);
    }

    /** Of 1000 choices. */
    private static int othersOf(TwoChoices chooser) {
        int count = 0;
        for (int i = 0; i < 1000; i++) {
            count += chooser.choose() == OTHER ? 1 : 0;
        }
        return count;
    }

    @Test
    void ofPathsThatTakeAsLongTheOneWithLessAheadIsTaken() {
        TwoChoices chooser = ofTwo();
        complete(chooser, ONE, 20 * MILLIS);
        complete(chooser, OTHER, 20 * MILLIS);
        chooser.sent(ONE);
        assertThat(othersOf(chooser)).isEqualTo(1000);
        chooser.sent(OTHER);
        assertThat(othersOf(chooser)).isBetween(400, 600);
    }

    /** Half as long again counts more than twice: the square. */
    @Test
    void whatPathsDifferInCountsTwice() {
        TwoChoices chooser = ofTwo();
        complete(chooser, ONE, 20 * MILLIS);
        complete(chooser, OTHER, 32 * MILLIS);
        chooser.sent(ONE);
        assertThat(othersOf(chooser)).isZero();
        chooser.sent(ONE);
        chooser.sent(ONE);
        assertThat(othersOf(chooser)).isEqualTo(1000);
    }

    /** A task takes its tuples in order, so those before have left it, wherever they are. */
    @Test
    void whatWasSentBeforeOneThatIsBackIsNotAhead() {
        PathLoad load = new PathLoad(1e9, 1e9, 0);
        for (int millis = 1; millis <= 5; millis++) {
            load.sent(millis * MILLIS);
        }
        assertThat(load.ahead()).isEqualTo(5);
        load.completed(17 * MILLIS, 20 * MILLIS); // the third one
        assertThat(load.ahead()).isEqualTo(2);
        assertThat(load.outstanding()).isEqualTo(4);
        load.completed(20 * MILLIS, 21 * MILLIS); // the first one
        assertThat(load.ahead()).isEqualTo(2);
        load.completed(20 * MILLIS, 25 * MILLIS); // the fifth one
        assertThat(load.ahead()).isZero();
        assertThat(load.outstanding()).isEqualTo(2);
    }

    @Test
    void neverMoreAreAheadThanOutstanding() {
        PathLoad load = new PathLoad(1e9, 1e9, 0);
        load.sent(10);
        load.sent(20);
        load.completed(100, 20); // sent before either, by a clock that is not exact
        assertThat(load.ahead()).isEqualTo(1);
        load.failed(21);
        assertThat(load.ahead()).isZero();
        load.failed(22);
        load.completed(1, 23);
        assertThat(load.outstanding()).isZero();
    }

    @Test
    void manyAheadAreCountedAndThenNoMore() {
        PathLoad load = new PathLoad(1e9, 1e9, 0);
        int many = PathLoad.AHEAD_MAX + 1000;
        for (int i = 1; i <= many; i++) {
            load.sent(i);
        }
        assertThat(load.ahead()).isEqualTo(PathLoad.AHEAD_MAX);
        assertThat(load.outstanding()).isEqualTo(many);
        load.completed(many - 40_000, many); // number 40,000
        assertThat(load.ahead()).isEqualTo(many - 40_000);
        assertThat(load.outstanding()).isEqualTo(many - 1);
    }

    @Test
    void oneThatHangsIsLeftAloneAtOnceAndTriedAgainLater() {
        TwoChoices chooser = ofTwo();
        complete(chooser, ONE, 20 * MILLIS);
        complete(chooser, OTHER, 20 * MILLIS);
        chooser.sent(OTHER);
        assertThat(othersBesideThree(chooser, 60 * MILLIS)).isZero();
        assertThat(othersBesideThree(chooser, 21 * MILLIS)).isEqualTo(1000);
        chooser.sent(OTHER);
        assertThat(othersBesideThree(chooser, 159 * MILLIS)).isZero();
        assertThat(othersBesideThree(chooser, 2 * MILLIS)).isEqualTo(1000);
    }

    @Test
    void ofTasksOfWhichNothingIsKnownTheOneWithLessAheadIsTaken() {
        TwoChoices chooser = ofTwo();
        chooser.sent(ONE);
        clock.advance(10 * SECONDS);
        assertThat(othersOf(chooser)).isEqualTo(1000);
    }

    /** As when the process of a task has died, and is there again. */
    @Test
    void isTriedAgainWithinSecondsHoweverMuchIsAhead() {
        TwoChoices chooser = ofTwo();
        complete(chooser, ONE, 20 * MILLIS);
        complete(chooser, OTHER, 20 * MILLIS);
        for (int i = 0; i < 1000; i++) {
            chooser.sent(OTHER);
        }
        assertThat(othersBesideThree(chooser, 5 * SECONDS)).isZero();
        assertThat(othersBesideThree(chooser, SECONDS)).isEqualTo(1000);
        complete(chooser, OTHER, 20 * MILLIS);
        chooser.sent(ONE);
        assertThat(othersOf(chooser)).isEqualTo(1000);
    }

    /** After some time, and with three tuples just sent to the other task. */
    private int othersBesideThree(TwoChoices chooser, long nanos) {
        clock.advance(nanos);
        for (int i = 0; i < 3; i++) {
            chooser.sent(ONE);
        }
        int others = othersOf(chooser);
        for (int i = 0; i < 3; i++) {
            chooser.completed(ONE, 20 * MILLIS);
        }
        return others;
    }

    @Test
    void aTimeoutSaysNothingOfTheTask() {
        TwoChoices chooser = ofTwo();
        complete(chooser, ONE, 20 * MILLIS);
        chooser.sent(OTHER); // is lost behind the task
        complete(chooser, OTHER, 20 * MILLIS);
        clock.advance(30 * SECONDS);
        chooser.failed(OTHER);
        assertThat(chooser.serviceNanos(OTHER)).isEqualTo(20 * MILLIS);
        assertThat(chooser.outstanding(OTHER)).isZero();
        assertThat(othersOf(chooser)).isBetween(400, 600);
    }
}
