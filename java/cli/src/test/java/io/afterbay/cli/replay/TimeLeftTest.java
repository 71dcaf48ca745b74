package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of a range from 500 to 700 ms. */
class TimeLeftTest {
    private static final ReplayPlan PLAN = TestReplays.local("mine");
    private static final int NOTHING_READ = 500;
    private static final int HALF = 600;

    /** In milliseconds, or null. */
    private static Long left(ReplayProgress... sources) {
        Duration left = TimeLeft.of(PLAN, List.of(sources));
        return left == null ? null : left.toMillis();
    }

    @Test
    void theRestOfTheRangeHasAsManyRecordsAsThePartThatIsDone() {
        assertThat(left(new ReplayProgress(100, 50, HALF, false))).isEqualTo(2000);
        assertThat(left(new ReplayProgress(100, 50, 550, false))).isEqualTo(6000);
        assertThat(left(new ReplayProgress(100, 50, 700, false))).isEqualTo(0);
    }

    /** It would be 22 s if all of both were taken for half of the range. */
    @Test
    void aSourceThatHasEndedHasNothingLeft() {
        ReplayProgress ended = new ReplayProgress(1000, 0.1, 700, true);
        assertThat(left(ended, new ReplayProgress(100, 50, HALF, false))).isEqualTo(2000);
        assertThat(left(ended, ended)).isEqualTo(0);
    }

    @Test
    void sourcesShareWhatComesPerSecond() {
        assertThat(
                        left(
                                new ReplayProgress(100, 20, HALF, false),
                                new ReplayProgress(10, 30, HALF, false)))
                .isEqualTo(2200);
    }

    @Test
    void itIsNotKnownAsLongAsOneIsAtItsBeginningOrNoRecordsCome() {
        assertThat(left()).isNull();
        assertThat(left(new ReplayProgress(100, 0, HALF, false))).isNull();
        assertThat(
                        left(
                                new ReplayProgress(100, 50, HALF, false),
                                new ReplayProgress(0, 0, NOTHING_READ, false)))
                .isNull();
        assertThat(left(new ReplayProgress(1, 50, NOTHING_READ, false))).isNull();
    }

    /** However long they took. */
    @Test
    void aReplayThatRunsSaysItAndOneThatIsPausedDoesNot(@TempDir Path root) throws Exception {
        ReplayDirectory replay =
                ReplayDirectory.create(root, PLAN, TestReplays.engine(), new RateChoice(50, false));
        ReplayControl control = new ReplayControl(replay.controlUri());
        control.tell(new ReplayProgress(100, 50, HALF, false));
        assertThat(ReplayReport.of(replay).left()).as("it is interrupted").isNull();
        assertThat(replay.hold(ReplayLock.Holder.COMMAND)).isTrue();
        assertThat(ReplayReport.of(replay).left()).isEqualTo(Duration.ofSeconds(2));
        assertThat(ReplayReport.of(replay).line()).endsWith(", 2 s left");
        replay.pause(true);
        assertThat(ReplayReport.of(replay).left()).isNull();
    }
}
