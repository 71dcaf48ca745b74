package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.process.LowWeight;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayOrders;
import io.afterbay.replay.ReplayProgress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of a replay, and what a command makes of it. */
class ReplayDirectoryTest {
    private static final String ID = "mine";

    private final StringBuilder err = new StringBuilder();
    private final List<Integer> niceOfProcesses = new ArrayList<>();
    private String told = "";
    @TempDir private Path root;

    @Test
    void isThereAsAWholeOrNotAtAll() throws Exception {
        ReplayDirectory created = create(500);
        assertThat(created.plan()).isEqualTo(TestReplays.local(ID));
        assertThat(created.engine().checkpointDirectory()).isEqualTo(created.checkpointsUri());
        assertThat(created.rate()).isEqualTo(new WantedRate(500.0, false, false));
        assertThat(control(created).rate()).isEqualTo(500);
        assertThat(new KeptReplays(root).all()).hasSize(1);
        try (var files = Files.list(root)) {
            assertThat(files).containsExactly(created.path());
        }
        Files.createDirectory(root.resolve(".new-1"));
        Files.writeString(root.resolve(".new-1/plan.json"), "{");
        assertThat(new KeptReplays(root).all()).hasSize(1);
        assertThatThrownBy(() -> create(1))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("--id mine: there is a replay of that name")
                .hasMessageContaining("--dir " + root);
    }

    @Test
    void isInterruptedUntilSomebodyHoldsItOrItHasEnded() throws Exception {
        ReplayDirectory replay = create(Rate.MAX);
        assertThat(replay.state()).isEqualTo(ReplayState.INTERRUPTED);
        assertThat(replay.hold(ReplayLock.Holder.COMMAND)).isTrue();
        assertThat(replay.state()).isEqualTo(ReplayState.RUNNING);
        replay.pause(true);
        assertThat(replay.state()).isEqualTo(ReplayState.PAUSED);
        assertThat(control(replay).rate()).isZero();
        replay.release();
        assertThat(replay.state()).isEqualTo(ReplayState.INTERRUPTED);
        replay.ended(Outcome.interrupted(ExitCode.INTERRUPTED));
        assertThat(replay.state()).isEqualTo(ReplayState.INTERRUPTED);
        replay.ended(Outcome.failed("a full disk"));
        assertThat(ReplayReport.of(replay).way())
                .contains("a full disk", "./afterbay replay resume mine --dir " + root);
        replay.ended(Outcome.finished());
        assertThat(replay.state()).isEqualTo(ReplayState.FINISHED);
    }

    /** Whoever looks at the live job's outage asks for the status of what stands in its place. */
    @Test
    void itsStatusSaysThatTheLiveJobIsStoppedInWhateverState() throws Exception {
        ReplayDirectory replay = create(Rate.MAX);
        String stopped = "; the live job is stopped at file:/sp; to start it again at once: ";
        replay.liveStop(stop(LiveStop.Phase.STOPPED));
        assertThat(ReplayReport.of(replay).way()).contains("replay resume mine", stopped);
        assertThat(replay.hold(ReplayLock.Holder.COMMAND)).isTrue();
        assertThat(replay.state()).isEqualTo(ReplayState.RUNNING);
        assertThat(ReplayReport.of(replay).way())
                .startsWith(stopped)
                .contains("./afterbay replay cancel mine --dir " + root);
        replay.pause(true);
        assertThat(ReplayReport.of(replay).way()).contains(stopped);
        replay.pause(false);
        replay.liveStop(stop(LiveStop.Phase.BACK));
        assertThat(ReplayReport.of(replay).way()).isEmpty();
    }

    private static LiveStop stop(LiveStop.Phase phase) {
        return new LiveStop(phase, "0a", "file:/sp", 1, null, null, null, null);
    }

    /** Its rows may be there already: Flink removes checkpoints of a job that has ended. */
    @Test
    void whatHasReadRecordsAndHasNoCheckpointIsNotBegunAgain() throws Exception {
        ReplayDirectory replay = create(Rate.MAX);
        control(replay).tell(new ReplayProgress(7, 1, 600, true));
        assertThat(resume()).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("has no checkpoint", "--anew");
        assertThat(replay.state()).isEqualTo(ReplayState.INTERRUPTED);
    }

    @Test
    void whatIsCancelledLeavesNoCheckpoints() throws Exception {
        ReplayDirectory replay = create(Rate.MAX);
        Path checkpoint = replay.path().resolve("checkpoints/job/chk-4");
        Files.createDirectories(checkpoint);
        assertThat(replay.newestCheckpoint()).isEmpty();
        Files.writeString(checkpoint.resolve("_metadata"), "");
        assertThat(replay.newestCheckpoint()).get().asString().endsWith("chk-4");
        for (int time = 0; time < 2; time++) {
            assertThat(afterbay("cancel", ID)).isZero();
            assertThat(checkpoint).doesNotExist();
            Files.createDirectories(checkpoint); // as a cancel that was cut off leaves it
        }
        assertThat(resume()).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("replay mine is cancelled");
    }

    /** Whatever is told afterwards. */
    @Test
    void aCancelIsSaidForGoodAndOnlyTheJobThatWasNotedLastMayDoIt() throws Exception {
        ReplayDirectory replay = create(500);
        ClusterAddress cluster = new ClusterAddress("flink", 8081);
        assertThat(control(replay).orders()).isEqualTo(new ReplayOrders(500, null, false));
        replay.job(new ReplayJob(cluster, "0a"));
        assertThat(control(replay).orders()).isEqualTo(new ReplayOrders(500, "0a", false));
        replay.pause(true);
        replay.job(new ReplayJob(cluster, "0b"));
        assertThat(control(replay).orders()).isEqualTo(new ReplayOrders(0, "0b", false));
        replay.pause(false);
        replay.rate(new RateChoice(7, false));
        assertThat(control(replay).orders()).isEqualTo(new ReplayOrders(7, "0b", false));

        replay.wantCancel();
        assertThat(control(replay).orders()).isEqualTo(ReplayOrders.cancelled());
        replay.rate(new RateChoice(9, false));
        replay.pause(true);
        replay.pause(false);
        replay.job(new ReplayJob(cluster, "0c"));
        replay.forgetProgress();
        assertThat(control(replay).orders()).isEqualTo(ReplayOrders.cancelled());
        assertThat(replay.rate()).isEqualTo(new WantedRate(9.0, false, false));
    }

    /** Its job may fail by the cancel: a job that begins is told so. */
    @Test
    void whatFailsAfterItsCancelIsCancelled() throws Exception {
        ReplayDirectory replay = create(500);
        replay.failed("a full disk");
        assertThat(replay.state()).isEqualTo(ReplayState.FAILED);
        replay.wantCancel();
        replay.failed("it was cancelled");
        assertThat(replay.state()).isEqualTo(ReplayState.CANCELLED);
    }

    /** Its command may have lost it, or have sent it twice. */
    @Test
    void aJobThatIsAtWorkHasNotFailedWhateverItsCommandSaid() throws Exception {
        ReplayDirectory replay = create(500);
        replay.job(new ReplayJob(new ClusterAddress("flink", 8081), "0a"));
        replay.failed("no answer");
        AtomicReference<ClusterRest.Answer> answer = new AtomicReference<>();
        ReplayDirectory asking =
                ReplayDirectory.of(
                        replay.path(),
                        address -> new ClusterRest(address, request -> answer.get()));
        answer.set(new ClusterRest.Answer(200, "{\"state\": \"RUNNING\"}"));
        assertThat(asking.state()).isEqualTo(ReplayState.RUNNING);
        assertThat(ReplayReport.of(asking).problem()).isNull();
        assertThat(ReplayReport.of(asking).way()).contains("nobody follows it", "resume mine");
        for (ClusterRest.Answer ended :
                List.of(
                        new ClusterRest.Answer(200, "{\"state\": \"FAILED\"}"),
                        new ClusterRest.Answer(404, "{}"),
                        new ClusterRest.Answer(503, "{}"))) {
            answer.set(ended);
            assertThat(asking.state()).isEqualTo(ReplayState.FAILED);
            assertThat(ReplayReport.of(asking).problem()).isEqualTo("no answer");
        }
    }

    /** If its job begins later, it finds the order; if it is at work, it takes no more records. */
    @Test
    void aCancelThatTheClusterDoesNotAnswerSaysHowToEndIt() throws Exception {
        ReplayDirectory replay = create(500);
        replay.job(new ReplayJob(new ClusterAddress("flink", 8081), "0a"));
        AtomicReference<ClusterRest.Answer> answer =
                new AtomicReference<>(new ClusterRest.Answer(503, "{}"));
        ReplayDirectory asking =
                ReplayDirectory.of(
                        replay.path(),
                        address -> new ClusterRest(address, request -> answer.get()));
        Waiting waiting = new Waiting(1, Duration.ofMinutes(5));
        Continuation continuation = new Continuation(asking, new NoProcesses(), waiting);
        assertThatThrownBy(continuation::cancel)
                .isInstanceOf(CommandFailure.class)
                .hasMessageStartingWith("whether replay mine runs is not known: ")
                .hasMessageContaining("if it does, it stands still from now on")
                .hasMessageEndingWith(
                        "To end it when the cluster answers: ./afterbay replay cancel mine --dir "
                                + root);
        assertThat(control(replay).orders()).isEqualTo(ReplayOrders.cancelled());
        assertThat(replay.ended()).as("nobody knows").isEmpty();

        answer.set(new ClusterRest.Answer(200, "{\"state\": \"CANCELED\"}"));
        assertThat(continuation.cancel()).isZero();
        assertThat(asking.state()).isEqualTo(ReplayState.CANCELLED);
    }

    private static final class NoProcesses implements Continuation.Processes {
        @Override
        public int run(ReplayPlan plan) {
            throw new AssertionError("nothing is left to do");
        }

        @Override
        public int follow(ReplayJob job) {
            throw new AssertionError("nobody waits for its end");
        }
    }

    @Test
    void whatIsGoneIsNotCancelledAndNotThereAgain() throws Exception {
        ReplayDirectory replay = create(500);
        ReplayDirectory same = ReplayDirectory.of(replay.path());
        replay.remove();
        same.wantCancel();
        assertThat(root).isEmptyDirectory();
    }

    @Test
    void aPlaceThatAnotherReplayHasUsedIsRefused() throws Exception {
        Path shared = root.resolve("shared");
        ReplayPlan plan = TestReplays.local(ID, shared.toUri().toString());
        EngineSettings engine = TestReplays.engine();
        RateChoice rate = new RateChoice(500, false);
        ReplayDirectory first = ReplayDirectory.create(root.resolve("a"), plan, engine, rate);
        assertThatThrownBy(() -> ReplayDirectory.create(root.resolve("b"), plan, engine, rate))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("--checkpoint-dir: ")
                .hasMessageContaining("shared/mine has files of another replay")
                .hasMessageContaining("choose another --id");
        assertThat(root.resolve("b")).isEmptyDirectory();
        first.remove();
        assertThat(ReplayDirectory.create(root.resolve("b"), plan, engine, rate).exists()).isTrue();
    }

    @Test
    void oneThatCannotBeReadDoesNotHideTheOthers() throws Exception {
        create(500);
        Files.createDirectory(root.resolve("broken"));
        Files.writeString(root.resolve("broken/plan.json"), "{");
        assertThat(afterbay("status")).isEqualTo(ExitCode.FAILURE);
        assertThat(told)
                .containsSubsequence("broken: cannot be read: ", "plan.json", "mine: 0.0 %");
        assertThat(afterbay("status", "--json")).isEqualTo(ExitCode.FAILURE);
        JsonNode list = new ObjectMapper().readTree(told);
        assertThat(list.findValuesAsText("id")).containsExactly("broken", ID);
        assertThat(list.path(0).path("state").asText()).isEqualTo("unreadable");
        assertThat(list.path(0).path("problem").asText()).contains("plan.json");
        assertThat(list.path(1).path("state").asText()).isEqualTo("interrupted");
        assertThat(afterbay("status", ID)).isZero();
    }

    /** A job goes on without them for long, as on a full disk. */
    @Test
    void itsStatusSaysThatNoCheckpointsCome() throws Exception {
        ReplayDirectory replay = create(500);
        replay.session(new ReplayDirectory.Session(System.currentTimeMillis() - 600_000));
        assertThat(afterbay("status", ID)).isZero();
        assertThat(told).as("it is not at work").doesNotContain("no checkpoint");
        assertThat(replay.hold(ReplayLock.Holder.COMMAND)).isTrue();
        assertThat(replay.state()).isEqualTo(ReplayState.RUNNING);
        assertThat(StatusCommand.text(replay))
                .contains(
                        ", no checkpoint for 10 min ",
                        "is there room in " + replay.checkpointsUri());
        Path checkpoint = replay.path().resolve("checkpoints/job/chk-4");
        Files.createDirectories(checkpoint);
        Files.writeString(checkpoint.resolve("_metadata"), "");
        assertThat(StatusCommand.text(replay)).doesNotContain("no checkpoint");
    }

    /** Where groups cannot be weighed, it is nice alone. */
    @Test
    void itsStatusSaysWhatItLeavesToOthersAsLongAsItRuns() throws Exception {
        ReplayDirectory replay = create(500);
        assertThat(ReplayReport.of(replay).priority()).isNull();
        replay.priority(new Priority(10, 10, null));
        assertThat(StatusCommand.text(replay)).as("it does not run").doesNotContain("nice");
        assertThat(replay.hold(ReplayLock.Holder.COMMAND)).isTrue();
        assertThat(StatusCommand.text(replay)).endsWith(", nice 10, cpu.weight 10");
        replay.priority(Priority.of(10, LowWeight.NONE));
        assertThat(StatusCommand.text(replay)).endsWith(", nice 10");
        ObjectNode json = new ObjectMapper().createObjectNode();
        ReplayReport.of(replay).json(json);
        assertThat(json.path("priority").toString())
                .isEqualTo("{\"nice\":10,\"cpu_weight\":null,\"io_weight\":null}");
    }

    /** As nice as it was, unless somebody says otherwise; so do replays of earlier versions. */
    @Test
    void whatIsResumedIsAsNiceAsBefore() throws Exception {
        ReplayDirectory replay = create(500);
        assertThat(replay.nice()).isEqualTo(10);
        for (Integer nice : new Integer[] {null, 3, null}) {
            assertThat(continuation(replay).resume(false, nice)).isEqualTo(ExitCode.OK);
        }
        assertThat(niceOfProcesses).containsExactly(10, 3, 3);
        assertThat(afterbay("resume", ID, "--nice", "20")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("'20' is no niceness");
    }

    private Continuation continuation(ReplayDirectory replay) throws CommandFailure {
        return new Continuation(
                replay,
                new Continuation.Processes() {
                    @Override
                    public int run(ReplayPlan plan) throws CommandFailure {
                        niceOfProcesses.add(replay.nice());
                        return ExitCode.OK;
                    }

                    @Override
                    public int follow(ReplayJob job) {
                        throw new AssertionError("it runs here");
                    }
                },
                new Waiting(1, Duration.ofMinutes(1)));
    }

    @Test
    void aProcessThatRunsAndAClusterAreNotMadeNicer() throws Exception {
        ReplayDirectory replay = create(500);
        replay.pause(true);
        try (HeldReplay held = HeldReplay.hold(replay.path(), ReplayLock.Holder.COMMAND)) {
            assertThat(afterbay("resume", ID, "--nice", "3")).isEqualTo(ExitCode.FAILURE);
        }
        assertThat(err.toString()).contains("replay mine runs already; --nice is for");
        assertThat(replay.rate().paused()).as("it is as it was").isTrue();
        assertThat(replay.nice()).isEqualTo(10);

        ReplayDirectory.create(
                root,
                TestReplays.blocking("there"),
                TestReplays.engine(),
                new RateChoice(500, false));
        assertThat(afterbay("resume", "there", "--nice", "3")).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("no meaning for replay there: its cluster decides");
    }

    /** Its users may have meant other times than the records have. */
    @Test
    void whatFindsNoRecordInItsRangeSaysSo() throws Exception {
        ReplayDirectory replay = create(Rate.MAX);
        control(replay).tell(new ReplayProgress(0, 0, 700, true));
        replay.ended(Outcome.finished());
        assertThat(ReplayReport.of(replay).way())
                .contains("no record is in the range, 1970-01-01T00:00:00.500Z to ");
        control(replay).tell(new ReplayProgress(1, 0, 700, true));
        assertThat(ReplayReport.of(replay).way()).isEmpty();
    }

    @Test
    void whatHasEndedHasNoRate() throws Exception {
        ReplayDirectory replay = create(500);
        assertThat(afterbay("rate", ID, "7")).isZero();
        assertThat(control(replay).rate()).isEqualTo(7);
        replay.ended(Outcome.finished());
        assertThat(afterbay("rate", ID, "8")).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("replay mine is finished");
        assertThat(control(replay).rate()).isEqualTo(7);
    }

    private int resume() {
        return afterbay("resume", ID);
    }

    private int afterbay(String... words) {
        ReplayVerb verb = ReplayVerb.run(root, words);
        told = verb.out();
        err.append(verb.err());
        return verb.code();
    }

    private static ReplayControl control(ReplayDirectory replay) throws CommandFailure {
        return new ReplayControl(replay.controlUri());
    }

    private ReplayDirectory create(double rate) throws CommandFailure {
        return ReplayDirectory.create(
                root, TestReplays.local(ID), TestReplays.engine(), new RateChoice(rate, false));
    }
}
