package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.cli.replay.SimulatedCluster.Ending;
import io.afterbay.testing.LongForm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command of a blocking replay dies, and another one goes on, or cancels it. */
class BlockedLiveKilledTest extends BlockedReplay {
    @Test
    void whereverItIsKilledOneReplayAndOneLiveJobComeOfIt() throws Exception {
        int request = 1;
        for (boolean dies = true; dies; request++) {
            for (Kill kill : killsAt(request, 1, 2, 3, 4)) {
                begin(Ending.GOOD);
                dies = dies(kill, this::begins);
                assertNothingIsSilent();
                resume();
                assertLiveIsBack(kill);
                assertThat(cluster.replays()).as("%s", kill).hasSize(1);
                assertThat(opened().state()).isEqualTo(ReplayState.FINISHED);
            }
        }
        assertThat(request).isGreaterThan(REQUESTS_MIN);
    }

    /** Also the one that goes on is killed. */
    @Test
    @LongForm
    @Timeout(300)
    void soItIsIfTheOneThatGoesOnIsKilledToo() throws Exception {
        int count = 0;
        boolean dies = true;
        for (int first = 1; dies; first++) {
            for (Kill kill : killsAt(first, 2)) {
                boolean diesAgain = true;
                for (int second = 1; diesAgain; second++) {
                    for (Kill again : killsAt(second)) {
                        begin(Ending.GOOD);
                        dies = dies(kill, this::begins);
                        diesAgain = dies && dies(again, this::resumes);
                        assertNothingIsSilent();
                        resume();
                        assertLiveIsBack(again);
                        assertThat(cluster.replays()).as("%s %s", kill, again).hasSize(1);
                        count++;
                    }
                }
            }
        }
        assertThat(count).isGreaterThan(1_000);
    }

    @Test
    void whereverItIsKilledTheLiveJobComesBackFromItsSavepointByACancel() throws Exception {
        boolean dies = true;
        for (int request = 1; dies; request++) {
            for (Kill kill : killsAt(request, 2)) {
                begin(Ending.GOOD);
                dies = dies(kill, this::begins);
                cancel();
                cluster.settle();
                assertThat(cluster.liveAtWork()).as("%s", kill).hasSize(1);
                assertThat(opened().isLiveStopped()).isFalse();
                assertThat(opened().state()).isIn(ReplayState.CANCELLED, ReplayState.FINISHED);
                if (opened().liveStop().isPresent()) {
                    assertLiveIsBack(kill);
                }
            }
        }
    }
}
