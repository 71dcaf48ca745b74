package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.replay.LiveStop.Phase;
import io.afterbay.cli.replay.SimulatedCluster.Ending;
import io.afterbay.cli.replay.SimulatedCluster.Job;
import io.afterbay.cli.replay.SimulatedCluster.Killed;
import io.afterbay.cli.replay.SimulatedCluster.When;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.junit.jupiter.api.io.TempDir;

/**
 * A blocking replay on a simulated cluster, whose command dies at any of its requests to that:
 * before, while it is on its way, and behind it. What it has noted lies between two of them.
 */
abstract class BlockedReplay {
    static final String ID = "past";

    /** A run without a kill has more. */
    static final int REQUESTS_MIN = 12;

    @TempDir private Path root;
    Waiting waiting = new Waiting(0, Duration.ofMinutes(5));
    SimulatedCluster cluster;
    Path directory;
    private int runs;

    /** A new process each time. */
    interface Command {
        void run(ReplayDirectory directory, BlockedLive live) throws Exception;
    }

    /** One way of all that there are. */
    record Kill(int request, When when, int lateBy) {}

    static List<Kill> killsAt(int request, int... latenesses) {
        List<Kill> kills = new ArrayList<>();
        kills.add(new Kill(request, When.BEFORE, 0));
        kills.add(new Kill(request, When.AFTER, 0));
        for (int lateBy : latenesses) {
            kills.add(new Kill(request, When.LATE, lateBy));
        }
        return kills;
    }

    void begin(Ending ending) throws Exception {
        Path parent = root.resolve("" + runs++);
        cluster = new SimulatedCluster(parent.resolve("checkpoints")).ending(ending);
        directory =
                ReplayDirectory.create(
                                parent,
                                plan(),
                                TestReplays.engine(),
                                new RateChoice(Rate.MAX, false))
                        .path();
    }

    ReplayDirectory opened() {
        return ReplayDirectory.of(directory, address -> new ClusterRest(address, cluster));
    }

    void command(Command command) throws Exception {
        ReplayDirectory opened = opened();
        command.run(opened, new BlockedLive(opened, opened.plan(), cluster, waiting));
    }

    /** What the process of the replay does. */
    int work(ReplayDirectory replay, BlockedLive live) throws CommandFailure, InterruptedException {
        try {
            return live.around(() -> replay(replay, live));
        } catch (CommandFailure | InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    int replay(ReplayDirectory replay, BlockedLive live) throws Exception {
        ReplayJob sent = replay.job().orElse(null);
        String id =
                (sent == null ? Optional.<JobID>empty() : sent.unseen(replay))
                        .orElseGet(JobID::new)
                        .toHexString();
        replay.job(new ReplayJob(TestReplays.CLUSTER, id));
        live.stop();
        cluster.startReplay(id, replay.controlUri());
        return follow(replay);
    }

    static int follow(ReplayDirectory replay) throws CommandFailure {
        while (replay.jobAtWork().isPresent()) {
            if (Thread.interrupted()) {
                throw new IllegalStateException("the test takes too long");
            }
        }
        return replay.hasFinished() ? ExitCode.OK : ExitCode.FAILURE;
    }

    Continuation continuation(ReplayDirectory replay, BlockedLive live) throws CommandFailure {
        return new Continuation(
                replay,
                new Continuation.Processes() {
                    @Override
                    public int run(ReplayPlan plan) throws CommandFailure, InterruptedException {
                        return work(replay, live);
                    }

                    @Override
                    public int follow(ReplayJob job) throws CommandFailure {
                        return BlockedReplay.follow(replay);
                    }
                },
                waiting);
    }

    void begins(ReplayDirectory replay, BlockedLive live) throws Exception {
        work(replay, live);
    }

    void resumes(ReplayDirectory replay, BlockedLive live) throws Exception {
        continuation(replay, live).resume(false, null);
    }

    void cancels(ReplayDirectory replay, BlockedLive live) throws Exception {
        continuation(replay, live).cancel();
    }

    /** Returns whether it has died. */
    boolean dies(Kill kill, Command command) throws Exception {
        cluster.killAt(kill.request, kill.when, kill.lateBy);
        try {
            command(command);
        } catch (Killed e) {
            return true;
        } catch (CommandFailure e) {
            if (!cluster.hasSpared() || cluster.replays().isEmpty()) {
                throw e;
            }
            return false; // another one's job came first, or has finished
        }
        assertThat(cluster.hasSpared()).isTrue();
        return false;
    }

    void resume() throws Exception {
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        try {
            command(this::resumes);
        } catch (CommandFailure e) {
            if (cluster.replays().isEmpty() || opened().needsLiveBack()) {
                throw e;
            }
            if (opened().hasFinished()) {
                assertThat(e).hasMessageContaining("is finished");
                return;
            }
            // What came late came in between, and is said.
            command(this::resumes);
        }
    }

    void cancel() throws Exception {
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        try {
            command(this::cancels);
        } catch (CommandFailure e) {
            assertThat(e).hasMessageContaining("finished");
            assertThat(opened().hasFinished()).isTrue();
        }
    }

    void beginUntilTheReplayRuns() throws Exception {
        int request = 1;
        do {
            begin(Ending.GOOD);
            assertThat(dies(new Kill(request++, When.AFTER, 0), this::begins)).isTrue();
        } while (cluster.replays().isEmpty());
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
    }

    void assertNothingIsSilent() throws Exception {
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        if (!cluster.liveAtWork().isEmpty()) {
            return;
        }
        ReplayReport report = ReplayReport.of(opened());
        assertThat(opened().isLiveStopped()).isTrue();
        assertThat(report.way()).contains("the live job is ", "./afterbay replay resume " + ID);
    }

    void assertLiveIsBack(Kill kill) throws Exception {
        cluster.settle();
        LiveStop known = opened().liveStop().orElseThrow();
        assertThat(known.phase()).as("%s", kill).isEqualTo(Phase.BACK);
        Job back = cluster.jobs.get(known.newJobId());
        assertThat(cluster.liveAtWork()).as("%s", kill).containsExactly(back);
        assertThat(back.from).isEqualTo(known.savepoint()).contains(known.trigger());
        assertThat(cluster.live()).as("%s", kill).hasSizeLessThanOrEqualTo(2);
    }

    static ReplayPlan plan() {
        return TestReplays.blocking(ID);
    }
}
