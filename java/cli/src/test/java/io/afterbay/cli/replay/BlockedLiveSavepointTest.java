package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.replay.LiveStop.Phase;
import io.afterbay.cli.replay.SimulatedCluster.Ending;
import io.afterbay.cli.replay.SimulatedCluster.Killed;
import io.afterbay.cli.replay.SimulatedCluster.When;
import io.afterbay.command.CommandFailure;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The savepoint with which a live job is stopped fails, is forgotten, or is not the end of it. */
class BlockedLiveSavepointTest extends BlockedReplay {
    /** The one that asks the live job to stop. */
    private static final int LAST_OF_STOP = 6;

    @Test
    void whereverItIsKilledASavepointThatFailsLeavesTheLiveJobRunning() throws Exception {
        boolean dies = true;
        for (int request = 1; dies; request++) {
            for (Kill kill : killsAt(request, 2)) {
                begin(Ending.NO_SAVEPOINT);
                try {
                    dies = dies(kill, this::begins);
                } catch (CommandFailure e) {
                    dies = false;
                    assertThat(e).hasMessageContaining("runs on: no room");
                }
                assertThatThrownBy(this::resume)
                        .isInstanceOf(CommandFailure.class)
                        .hasMessageContaining("runs on: no room");
                cluster.settle();
                assertThat(cluster.liveAtWork())
                        .containsExactly(cluster.jobs.get(SimulatedCluster.LIVE));
                assertThat(cluster.jobs).hasSize(1);
                assertThat(opened().liveStop()).isEmpty();
            }
        }
    }

    /** Clusters forget savepoints after minutes, and jobs that have ended after an hour. */
    @Test
    void theSavepointIsFoundAlsoIfTheClusterHasForgottenIt() throws Exception {
        int found = 0;
        boolean dies = true;
        for (int request = 1; dies; request++) {
            begin(Ending.GOOD);
            dies = dies(new Kill(request, When.AFTER, 0), this::begins);
            if (!cluster.replays().isEmpty()) {
                break;
            }
            cluster.forget();
            found += cluster.liveAtWork().isEmpty() ? 1 : 0;
            resume();
            assertLiveIsBack(new Kill(request, When.AFTER, 0));
            assertThat(cluster.replays()).hasSize(1);
        }
        assertThat(found).isGreaterThan(3);
    }

    /** A savepoint that somebody made before is not where it was. */
    @Test
    void aLiveJobThatFailsWhileItIsStoppedIsNotStartedFromAnOlderSavepoint() throws Exception {
        boolean dies = true;
        for (int request = 1; dies; request++) {
            begin(Ending.GOOD);
            dies = dies(new Kill(request, When.BEFORE, 0), this::begins);
            if (opened().liveStop().isPresent()) {
                break;
            }
        }
        cluster.live().get(0).state = "FAILED";
        assertThatThrownBy(this::resume)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining(SimulatedCluster.LIVE + " is FAILED")
                .hasMessageContaining("ended by itself");
        assertThat(cluster.jobs).hasSize(1);
        command(this::cancels);
        assertThat(opened().state()).isEqualTo(ReplayState.CANCELLED);
    }

    /** Its sinks may have left to the restart what they did not commit. */
    @Test
    void aLiveJobThatFailsAfterItsSavepointIsStartedFromItByACancel() throws Exception {
        begin(Ending.FAILURE);
        assertThatThrownBy(() -> command(this::begins))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining(SimulatedCluster.LIVE + " is FAILED")
                .hasMessageContaining("savepoint-1 was complete")
                .hasMessageContaining("a sink did not commit");
        assertThat(cluster.jobs).hasSize(1);
        assertThat(opened().hasSavepoint()).isTrue();
        assertThat(ReplayReport.of(opened()).way())
                .contains("the live job is stopped at ", "./afterbay replay cancel " + ID);
        command(this::cancels);
        assertLiveIsBack(new Kill(0, When.BEFORE, 0));
        assertThat(cluster.replays()).isEmpty();
    }

    @Test
    void whereverItIsKilledALiveJobThatFailsAfterItsSavepointComesBackFromIt() throws Exception {
        int stopped = 0;
        boolean dies = true;
        for (int request = 1; dies; request++) {
            begin(Ending.FAILURE);
            try {
                dies = dies(new Kill(request, When.AFTER, 0), this::begins);
            } catch (CommandFailure e) {
                dies = false;
            }
            cluster.settle();
            stopped += cluster.liveAtWork().isEmpty() ? 1 : 0;
            cancel();
            cluster.settle();
            assertThat(cluster.liveAtWork()).hasSize(1);
            assertThat(opened().isLiveStopped()).isFalse();
        }
        assertThat(stopped).isPositive();
    }

    /** Also where it is not the newest of the live job: nobody else can tell. */
    @Test
    void aSavepointThatIsCompleteStaysAlthoughTheLiveJobWasNotStopped() throws Exception {
        begin(Ending.RESTART);
        assertThatThrownBy(() -> command(this::begins))
                .hasMessageContaining("runs on: a sink did not commit; its savepoint ")
                .hasMessageContaining("is complete, and stays");
        assertThat(cluster.liveAtWork()).hasSize(1);
        assertThat(opened().liveStop()).isEmpty();
        assertThat(opened().hasSavepoint()).isTrue();

        begin(Ending.RESTART_AND_FAILURE);
        cluster.killAt(LAST_OF_STOP, When.AFTER, 0);
        assertThatThrownBy(() -> command(this::begins)).isInstanceOf(Killed.class);
        cluster.settle();
        assertThatThrownBy(this::resume)
                .hasMessageContaining("is FAILED (a sink did not commit), and is further than")
                .hasMessageContaining("newest checkpoint, file:")
                .hasMessageContaining("chk-3");
        assertThat(opened().liveStop()).isEmpty();
        assertThat(opened().hasSavepoint()).isTrue();
        assertThat(cluster.jobs).hasSize(1);
    }

    @Test
    void aSavepointThatNeverEndsIsNotWaitedForForever() throws Exception {
        waiting = new Waiting(0, Duration.ofMillis(20));
        begin(Ending.SILENCE);
        assertThatThrownBy(() -> command(this::begins))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is not complete after");
        assertThat(opened().liveStop().orElseThrow().phase()).isEqualTo(Phase.STOPPING);
        assertThat(cluster.replays()).isEmpty();
    }
}
