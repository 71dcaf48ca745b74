package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.replay.SimulatedCluster.Ending;
import io.afterbay.cli.replay.SimulatedCluster.When;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A blocking replay ends, by itself or by a cancel, while its job is late or still runs. */
class BlockedLiveEndTest extends BlockedReplay {
    /** In requests of others: more than a cancel needs. */
    private static final int LATE_BY_MAX = 10;

    /** Nobody can ask a cluster for what it has not heard of yet. */
    @Test
    void aReplayThatIsCancelledStaysSoHoweverLateItsJobComes() throws Exception {
        int refused = 0;
        boolean dies = true;
        for (int request = 1; dies; request++) {
            for (int lateBy = 1; lateBy <= LATE_BY_MAX; lateBy++) {
                Kill kill = new Kill(request, When.LATE, lateBy);
                begin(Ending.GOOD);
                dies = dies(kill, this::begins);
                cancel();
                cluster.settle();
                assertThat(cluster.liveAtWork()).as("%s", kill).hasSize(1);
                assertThat(opened().isLiveStopped()).isFalse();
                List<String> states = cluster.replays().stream().map(job -> job.state).toList();
                assertThat(states).as("%s", kill).hasSizeLessThanOrEqualTo(1);
                if (opened().state() == ReplayState.CANCELLED) {
                    assertThat(states).as("%s", kill).isSubsetOf("CANCELED", "FAILED");
                }
                refused += states.contains("FAILED") ? 1 : 0;
            }
        }
        assertThat(refused).isGreaterThan(LATE_BY_MAX / 2);
    }

    /** Else its job might begin between the answer that there is none and the cancel. */
    @Test
    void theClusterIsAskedForTheJobAgainWhenItsCancelIsSaid() throws Exception {
        begin(Ending.GOOD);
        assertThat(dies(new Kill(1, When.BEFORE, 0), this::begins)).isTrue();
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        String job = opened().job().orElseThrow().id();
        ReplayControl control = new ReplayControl(opened().controlUri());
        List<Boolean> wasSaid = new ArrayList<>();
        ReplayDirectory watched =
                ReplayDirectory.of(
                        directory,
                        address ->
                                new ClusterRest(
                                        address,
                                        request -> {
                                            if (request.uri().getPath().endsWith(job)) {
                                                wasSaid.add(control.orders().isCancelled());
                                            }
                                            return cluster.send(request);
                                        }));
        continuation(watched, new BlockedLive(watched, plan(), cluster, waiting)).cancel();
        assertThat(wasSaid).isNotEmpty().last().isEqualTo(true);
        assertThat(opened().state()).isEqualTo(ReplayState.CANCELLED);
    }

    /** Between any two looks that the command takes at it. */
    @Test
    void aReplayThatFinishesWhileItIsResumedOrCancelledLeavesNoLiveJobStopped() throws Exception {
        int cancelled = 0;
        for (Command command : List.<Command>of(this::resumes, this::cancels)) {
            for (int ticks = 1; ticks <= REQUESTS_MIN; ticks++) {
                beginUntilTheReplayRuns();
                cluster.endReplayIn(ticks);
                try {
                    command(command);
                } catch (CommandFailure e) {
                    assertThat(e).hasMessageContaining("has finished meanwhile");
                }
                assertLiveIsBack(new Kill(ticks, When.AFTER, 0));
                assertThat(cluster.replays()).hasSize(1);
                cancelled += opened().state() == ReplayState.CANCELLED ? 1 : 0;
            }
        }
        assertThat(cancelled).isPositive().isLessThan(REQUESTS_MIN);
    }

    /** As a process that was refused does it, before anything has come of it. */
    @Test
    void aReplayWhoseDirectoryIsGoneMeanwhileIsCancelled() throws Exception {
        beginUntilTheReplayRuns();
        ReplayDirectory removed =
                ReplayDirectory.of(
                        directory,
                        address ->
                                new ClusterRest(
                                        address,
                                        request -> {
                                            if (request.method().equals("PATCH")) {
                                                WorkDirectory.remove(directory);
                                            }
                                            return cluster.send(request);
                                        }));
        assertThat(
                        continuation(removed, new BlockedLive(removed, plan(), cluster, waiting))
                                .cancel())
                .isEqualTo(ExitCode.OK);
        assertThat(directory).doesNotExist();
    }

    /** A process may have given it up, and its job still be at work. */
    @Test
    void theLiveJobIsNotStartedBesideTheReplayThatStillRuns() throws Exception {
        int cancelled = 0;
        for (int ticks = 1; ticks <= 6; ticks++) {
            beginUntilTheReplayRuns();
            cluster.endReplayIn(ticks);
            opened().wantCancel();
            command((replay, live) -> live.bringBack());
            assertLiveIsBack(new Kill(ticks, When.AFTER, 0));
            cancelled += cluster.replays().get(0).state.equals("CANCELED") ? 1 : 0;
        }
        assertThat(cancelled).isPositive().isLessThan(6);
    }
}
