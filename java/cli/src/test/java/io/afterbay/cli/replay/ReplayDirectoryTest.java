package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.Afterbay;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.job.RunRules;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.cli.run.RunPlan;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What is kept of a replay, and what a command makes of it. */
class ReplayDirectoryTest {
    private static final String ID = "mine";

    private final StringWriter err = new StringWriter();
    @TempDir private Path root;

    @Test
    void isThereAsAWholeOrNotAtAll() throws Exception {
        ReplayDirectory created = create(500);
        assertThat(created.plan()).isEqualTo(plan());
        assertThat(created.engine().checkpointDirectory()).isEqualTo(created.checkpointsUri());
        assertThat(created.rate()).isEqualTo(new ReplayDirectory.WantedRate(500.0, false, false));
        assertThat(control(created).rate()).isEqualTo(500);
        assertThat(ReplayDirectory.all(root)).hasSize(1);
        try (var files = Files.list(root)) {
            assertThat(files).containsExactly(created.path());
        }
        Files.createDirectory(root.resolve(".new-1"));
        Files.writeString(root.resolve(".new-1/plan.json"), "{");
        assertThat(ReplayDirectory.all(root)).hasSize(1);
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
            assertThat(afterbay("cancel")).isZero();
            assertThat(checkpoint).doesNotExist();
            Files.createDirectories(checkpoint); // as a cancel that was cut off leaves it
        }
        assertThat(resume()).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("replay mine is cancelled");
    }

    private int resume() {
        return afterbay("resume");
    }

    private int afterbay(String verb) {
        CommandLine command = Afterbay.commandLine();
        command.setErr(new PrintWriter(err, true));
        return command.execute("replay", verb, ID, "--dir", root.toString());
    }

    private static ReplayControl control(ReplayDirectory replay) throws CommandFailure {
        return new ReplayControl(replay.controlUri());
    }

    private ReplayDirectory create(double rate) throws CommandFailure {
        return ReplayDirectory.create(root, plan(), engine(), new RateChoice(rate, false));
    }

    private static ReplayPlan plan() {
        return new ReplayPlan(
                ID,
                "./afterbay replay job.jar",
                new RunPlan(
                        "afterbay replay jar",
                        new JobPlan.Jar("job.jar", "Job", List.of("a"), new RunRules(0, null)),
                        null,
                        null,
                        null,
                        null),
                500,
                700,
                new ReplayPlan.Merge(650L, null),
                false,
                null,
                null,
                null,
                "/",
                null);
    }

    private static EngineSettings engine() {
        return new EngineSettings(
                Backend.AFTERBAY.name(), 1, MemorySplit.OF_CLIENT, 100, 1, null, Map.of(), false);
    }
}
