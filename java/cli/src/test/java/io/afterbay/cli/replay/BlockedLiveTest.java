package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.job.RunRules;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.replay.LiveStop.Phase;
import io.afterbay.cli.replay.SimulatedCluster.Ending;
import io.afterbay.cli.replay.SimulatedCluster.Job;
import io.afterbay.cli.replay.SimulatedCluster.Killed;
import io.afterbay.cli.replay.SimulatedCluster.When;
import io.afterbay.cli.replay.live.LiveAddress;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.cli.run.RunPlan;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command of a blocking replay dies at each of its requests to the cluster: before, while it is
 * on its way, and behind it. What it has noted lies between two of them.
 */
class BlockedLiveTest {
    private static final String ID = "past";
    private static final ClusterAddress ADDRESS = new ClusterAddress("flink", 8081);

    /** A run without a kill has more. */
    private static final int REQUESTS_MIN = 12;

    /** The one that asks the live job to stop. */
    private static final int LAST_OF_STOP = 6;

    /** In requests of others: more than a cancel needs. */
    private static final int LATE_BY_MAX = 10;

    @TempDir private Path root;
    private BlockedLive.Waiting waiting = new BlockedLive.Waiting(0, Duration.ofMinutes(5));
    private int runs;
    private SimulatedCluster cluster;
    private Path directory;

    /** A new process each time. */
    private interface Command {
        void run(ReplayDirectory directory, BlockedLive live) throws Exception;
    }

    /** One way of all that there are. */
    private record Kill(int request, When when, int lateBy) {}

    private static List<Kill> killsAt(int request, int... latenesses) {
        List<Kill> kills = new ArrayList<>();
        kills.add(new Kill(request, When.BEFORE, 0));
        kills.add(new Kill(request, When.AFTER, 0));
        for (int lateBy : latenesses) {
            kills.add(new Kill(request, When.LATE, lateBy));
        }
        return kills;
    }

    private void begin(Ending ending) throws Exception {
        Path parent = root.resolve("" + runs++);
        cluster = new SimulatedCluster(parent.resolve("checkpoints")).ending(ending);
        directory =
                ReplayDirectory.create(parent, plan(), engine(), new RateChoice(Rate.MAX, false))
                        .path();
    }

    private ReplayDirectory opened() {
        return ReplayDirectory.of(directory, address -> new ClusterRest(address, cluster));
    }

    private void command(Command command) throws Exception {
        ReplayDirectory opened = opened();
        command.run(opened, new BlockedLive(opened, opened.plan(), cluster, waiting));
    }

    /** What the process of the replay does. */
    private int work(ReplayDirectory replay, BlockedLive live)
            throws CommandFailure, InterruptedException {
        try {
            return live.around(() -> replay(replay, live));
        } catch (CommandFailure | InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private int replay(ReplayDirectory replay, BlockedLive live) throws Exception {
        ReplayJob sent = replay.job().orElse(null);
        String id =
                (sent == null ? Optional.<JobID>empty() : sent.unseen(replay))
                        .orElseGet(JobID::new)
                        .toHexString();
        replay.job(new ReplayJob(ADDRESS, id));
        live.stop();
        cluster.startReplay(id, replay.controlUri());
        return follow(replay);
    }

    private static int follow(ReplayDirectory replay) throws CommandFailure {
        while (replay.jobAtWork().isPresent()) {
            if (Thread.interrupted()) {
                throw new IllegalStateException("the test takes too long");
            }
        }
        return replay.hasFinished() ? ExitCode.OK : ExitCode.FAILURE;
    }

    private Continuation continuation(ReplayDirectory replay, BlockedLive live)
            throws CommandFailure {
        return new Continuation(
                replay,
                new Continuation.Processes() {
                    @Override
                    public int run(ReplayPlan plan) throws CommandFailure, InterruptedException {
                        return work(replay, live);
                    }

                    @Override
                    public int follow(ReplayJob job) throws CommandFailure {
                        return BlockedLiveTest.follow(replay);
                    }
                },
                0);
    }

    private void begins(ReplayDirectory replay, BlockedLive live) throws Exception {
        work(replay, live);
    }

    private void resumes(ReplayDirectory replay, BlockedLive live) throws Exception {
        continuation(replay, live).resume(false);
    }

    private void cancels(ReplayDirectory replay, BlockedLive live) throws Exception {
        continuation(replay, live).cancel();
    }

    /** Returns whether it has died. */
    private boolean dies(Kill kill, Command command) throws Exception {
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

    private void assertNothingIsSilent() throws Exception {
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        if (!cluster.liveAtWork().isEmpty()) {
            return;
        }
        ReplayReport report = ReplayReport.of(opened());
        assertThat(opened().isLiveStopped()).isTrue();
        assertThat(report.way()).contains("the live job is ", "./afterbay replay resume " + ID);
    }

    private void assertLiveIsBack(Kill kill) throws Exception {
        cluster.settle();
        LiveStop known = opened().liveStop().orElseThrow();
        assertThat(known.phase()).as("%s", kill).isEqualTo(Phase.BACK);
        Job back = cluster.jobs.get(known.newJobId());
        assertThat(cluster.liveAtWork()).as("%s", kill).containsExactly(back);
        assertThat(back.from).isEqualTo(known.savepoint()).contains(known.trigger());
        assertThat(cluster.live()).as("%s", kill).hasSizeLessThanOrEqualTo(2);
    }

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

    private void resume() throws Exception {
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

    private void cancel() throws Exception {
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        try {
            command(this::cancels);
        } catch (CommandFailure e) {
            assertThat(e).hasMessageContaining("finished");
            assertThat(opened().hasFinished()).isTrue();
        }
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

    private void beginUntilTheReplayRuns() throws Exception {
        int request = 1;
        do {
            begin(Ending.GOOD);
            assertThat(dies(new Kill(request++, When.AFTER, 0), this::begins)).isTrue();
        } while (cluster.replays().isEmpty());
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
    }

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
    @Timeout(60)
    void aSavepointThatNeverEndsIsNotWaitedForForever() throws Exception {
        waiting = new BlockedLive.Waiting(0, Duration.ofMillis(20));
        begin(Ending.SILENCE);
        assertThatThrownBy(() -> command(this::begins))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is not complete after");
        assertThat(opened().liveStop().orElseThrow().phase()).isEqualTo(Phase.STOPPING);
        assertThat(cluster.replays()).isEmpty();
    }

    /** What it did before the replay knew that it is back is not done twice. */
    @Test
    void aNewLiveJobThatHasFailedIsStartedAgainOnlyIfItIsStillAtTheSavepoint() throws Exception {
        for (int checkpoints : List.of(0, 3)) {
            String id = beginUntilTheLiveJobIsBack(checkpoints, true);
            cluster.jobs.get(id).state = "FAILED";
            assertStartedAgainOnlyWithoutCheckpoints(checkpoints, "is FAILED now", id);
        }
    }

    @Test
    void soItIsWithOneThatItsClusterHasForgotten() throws Exception {
        for (int checkpoints : List.of(0, 3)) {
            for (boolean saysTheirPlace : List.of(true, false)) {
                String id = beginUntilTheLiveJobIsBack(checkpoints, saysTheirPlace);
                cluster.restart();
                assertStartedAgainOnlyWithoutCheckpoints(
                        checkpoints, "is not known there any more", id);
            }
        }
    }

    /**
     * Nobody has noted it.
     *
     * @param saysTheirPlace whether the first live job has made a checkpoint before it was stopped,
     *     and not only the cluster says where they are
     * @return its identifier
     */
    private String beginUntilTheLiveJobIsBack(int checkpoints, boolean saysTheirPlace)
            throws Exception {
        int request = 1;
        do {
            begin(Ending.GOOD);
            if (saysTheirPlace) {
                cluster.checkpoint(SimulatedCluster.LIVE);
            }
            assertThat(dies(new Kill(request++, When.AFTER, 0), this::begins)).isTrue();
        } while (cluster.live().size() < 2);
        cluster.killAt(Integer.MAX_VALUE, When.BEFORE, 0);
        String id = opened().liveStop().orElseThrow().newJobId();
        for (int i = 0; i < checkpoints; i++) {
            cluster.checkpoint(id);
        }
        return id;
    }

    private void assertStartedAgainOnlyWithoutCheckpoints(int checkpoints, String is, String id)
            throws Exception {
        int before = cluster.live().size();
        if (checkpoints == 0) {
            resume();
            assertThat(cluster.liveAtWork()).hasSize(1);
            assertThat(cluster.live()).hasSize(before + 1);
            return;
        }
        assertThatThrownBy(() -> command((replay, live) -> live.bringBack()))
                .hasMessageContaining("has made checkpoints since then, and " + is)
                .hasMessageContaining(id + "/chk-4");
        assertThat(cluster.live()).hasSize(before);
        assertThat(opened().isLiveStopped()).isFalse();
    }

    @Test
    void everyBackendThatARunCanHaveIsKnownByWhatTheClusterCallsIt() throws Exception {
        for (Backend backend : Backend.KNOWN) {
            Configuration settings = new Configuration();
            backend.configure(settings);
            StateBackend made =
                    StateBackendLoader.loadStateBackendFromConfig(
                            settings, BlockedLiveTest.class.getClassLoader(), null);
            assertThat(Backend.named(BlockedLive.backend(made.getName())).type())
                    .isEqualTo(backend.type());
        }
        assertThat(BlockedLive.backend("null")).isNull();
        assertThatThrownBy(() -> BlockedLive.backend("OtherStateBackend"))
                .hasMessageContaining("OtherStateBackend")
                .hasMessageContaining("it was not stopped");
    }

    static ReplayPlan plan() {
        return new ReplayPlan(
                ID,
                "./afterbay replay job.jar",
                new RunPlan(
                        "afterbay replay jar",
                        new JobPlan.Jar("job.jar", "Job", List.of(), new RunRules(0, null)),
                        null,
                        null,
                        ADDRESS,
                        null),
                500,
                700,
                null,
                true,
                null,
                new LiveAddress(ADDRESS, SimulatedCluster.LIVE),
                null,
                "/",
                null);
    }

    static EngineSettings engine() {
        return new EngineSettings(
                Backend.AFTERBAY.name(), 1, MemorySplit.OF_CLIENT, 100, 1, null, Map.of(), false);
    }
}
