package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code replay remove} removes, and what stays. */
class RemovalTest {
    private static final String ID = "mine";
    private static final String RUNNING = "{\"state\": \"RUNNING\"}";
    private static final RateChoice RATE = new RateChoice(500, false);

    @TempDir private Path directory;

    private Path root() {
        return directory.resolve("replays");
    }

    private ReplayDirectory create(ReplayPlan plan) throws CommandFailure {
        return ReplayDirectory.create(root(), plan, TestReplays.engine(), RATE);
    }

    private ReplayVerb remove(String... words) {
        List<String> all = new ArrayList<>(List.of("remove"));
        all.addAll(List.of(words));
        return ReplayVerb.run(root(), all.toArray(String[]::new));
    }

    private void assertStays(ReplayVerb removal, String... reason) {
        assertThat(removal.code()).isEqualTo(ExitCode.FAILURE);
        assertThat(removal.err()).startsWith("afterbay replay remove: ").contains(reason);
        assertThat(removal.out()).isEmpty();
        assertThat(root().resolve(ID).resolve("plan.json")).exists();
    }

    @Test
    void nothingIsLeftOfAReplayThatHasEndedAlsoElsewhere() throws Exception {
        Path elsewhere = directory.resolve("shared");
        ReplayDirectory replay = create(TestReplays.local(ID, elsewhere.toUri().toString()));
        Path checkpoint = elsewhere.resolve(ID).resolve("checkpoints/job/chk-1");
        Files.createDirectories(checkpoint);
        replay.ended(Outcome.finished());
        ReplayVerb removal = remove(ID);
        assertThat(removal.code()).as(removal.err()).isEqualTo(ExitCode.OK);
        assertThat(removal.out()).isEqualTo("replay mine is removed\n");
        assertThat(root()).isEmptyDirectory();
        assertThat(elsewhere).isEmptyDirectory();
        assertThat(create(TestReplays.local(ID, elsewhere.toUri().toString())).exists()).isTrue();
    }

    /** Somebody may want to resume it. */
    @Test
    void whatWasInterruptedOrHasFailedIsRemovedByItsNameOnly() throws Exception {
        create(TestReplays.local(ID));
        create(TestReplays.local("failed")).ended(Outcome.failed("a full disk"));
        ReplayVerb ended = remove("--ended");
        assertThat(ended.code()).isEqualTo(ExitCode.OK);
        assertThat(ended.out()).isEqualTo("no replays to remove in " + root() + "\n");
        assertThat(new KeptReplays(root()).all()).hasSize(2);
        assertThat(remove(ID, "failed").code()).isEqualTo(ExitCode.OK);
        assertThat(root()).isEmptyDirectory();
    }

    @ParameterizedTest
    @EnumSource(ReplayLock.Holder.class)
    void whatRunsStays(ReplayLock.Holder process) throws Exception {
        ReplayDirectory replay = create(TestReplays.local(ID));
        try (HeldReplay held = HeldReplay.hold(replay.path(), process)) {
            assertStays(
                    remove(ID),
                    "replay mine runs: a process of it lives",
                    "end it first: ./afterbay replay cancel mine --dir " + root());
            assertThat(held).isNotNull();
        }
        assertThat(replay.isCancelWanted()).isFalse();
        assertThat(remove(ID).code()).isEqualTo(ExitCode.OK);
    }

    /** Also one that is over: nobody else knows the savepoint. */
    @Test
    void whatHasStoppedItsLiveJobStays() throws Exception {
        ReplayDirectory replay = create(TestReplays.blocking(ID));
        replay.liveStop(stop(LiveStop.Phase.STOPPED));
        replay.ended(Outcome.finished());
        assertStays(
                remove(ID),
                "replay mine has stopped its live job",
                "start that first: ./afterbay replay cancel mine");
        assertThat(remove("--ended").out()).contains("no replays to remove");
    }

    private static LiveStop stop(LiveStop.Phase phase) {
        return new LiveStop(phase, "0a", "file:/sp", 1, null, null, null, null);
    }

    /** A live job that was started from it a moment ago still needs it. */
    @Test
    void aSavepointOfTheLiveJobIsRemovedOnlyIfThatIsSaid() throws Exception {
        ReplayDirectory replay = create(TestReplays.blocking(ID));
        replay.liveStop(stop(LiveStop.Phase.BACK));
        replay.ended(Outcome.finished());
        makeSavepoint(replay);
        assertStays(remove(ID), "has the savepoint", "--with-savepoints", replay.savepointsUri());
        assertStays(remove("--ended"), "has the savepoint");
        assertThat(remove(ID, "--with-savepoints").code()).isEqualTo(ExitCode.OK);
        assertThat(root()).isEmptyDirectory();
    }

    private static void makeSavepoint(ReplayDirectory replay) throws IOException {
        Path savepoint = replay.path().resolve("savepoints/0a/savepoint-1");
        Files.createDirectories(savepoint);
        Files.writeString(savepoint.resolve("_metadata"), "");
    }

    /** Somebody may resume it: its live job could not be stopped, and runs on. */
    @Test
    void whatStaysForItsSavepointIsNotCancelled() throws Exception {
        ReplayDirectory replay = onCluster(UNKNOWN_JOB);
        makeSavepoint(replay);
        assertThatThrownBy(() -> new Removal(replay, false).remove())
                .hasMessageContaining("has the savepoint");
        assertThat(replay.isCancelWanted()).isFalse();
        new Removal(replay, true).remove();
        assertThat(root()).isEmptyDirectory();
    }

    /**
     * One whose job is noted, and whose cluster gives these answers in turn, the last one for good.
     *
     * @param answers null for none
     */
    private ReplayDirectory onCluster(ClusterRest.Answer... answers) throws CommandFailure {
        ReplayDirectory made = create(TestReplays.blocking(ID));
        made.job(new ReplayJob(TestReplays.CLUSTER, "0a"));
        Deque<ClusterRest.Answer> left = new ArrayDeque<>(List.of(answers));
        return ReplayDirectory.of(
                made.path(),
                address ->
                        new ClusterRest(
                                address,
                                request -> {
                                    if (left.isEmpty()) {
                                        throw new IOException("silence");
                                    }
                                    return left.size() > 1 ? left.remove() : left.element();
                                }));
    }

    private static final ClusterRest.Answer UNKNOWN_JOB = new ClusterRest.Answer(404, "{}");
    private static final ClusterRest.Answer AT_WORK = new ClusterRest.Answer(200, RUNNING);

    @Test
    void whatNobodyKnowsOfStays() throws Exception {
        ReplayDirectory silent = onCluster();
        assertThatThrownBy(() -> new Removal(silent, false).remove())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("whether replay mine runs is not known")
                .hasMessageContaining("silence")
                .hasMessageContaining("gone for good, delete " + silent.path() + " yourself");
        assertThat(silent.exists()).isTrue();
        assertThat(silent.isCancelWanted()).isFalse();
        silent.ended(Outcome.failed("its cluster does not answer"));
        assertThatThrownBy(() -> new Removal(silent, false).remove())
                .hasMessageContaining("is not known");
        silent.ended(Outcome.finished());
        new Removal(silent, false).remove();
        assertThat(root()).isEmptyDirectory();
    }

    @Test
    void whatIsAtWorkOnItsClusterStays() throws Exception {
        ReplayDirectory replay = onCluster(AT_WORK);
        assertThatThrownBy(() -> new Removal(replay, false).remove())
                .hasMessageContaining("replay mine runs: job 0a at flink:8081 is at work")
                .hasMessageContaining("./afterbay replay cancel mine");
        assertThat(replay.exists()).isTrue();
        assertThat(replay.isCancelWanted()).isFalse();
        assertThat(replay.isHeld()).isFalse();
    }

    /** A command that was killed has sent it; without the directory, nobody could end it. */
    @Test
    void aJobThatComesAtThatMomentIsNotLeftAlone() throws Exception {
        ReplayDirectory replay = onCluster(UNKNOWN_JOB, AT_WORK);
        assertThatThrownBy(() -> new Removal(replay, false).remove())
                .hasMessageContaining("job 0a at flink:8081 is at work");
        assertThat(replay.exists()).isTrue();
        assertThat(new ReplayControl(replay.controlUri()).orders().isCancelled()).isTrue();
    }

    @Test
    void whatHasEndedOnItsClusterIsRemoved() throws Exception {
        ReplayDirectory replay = onCluster(UNKNOWN_JOB);
        new Removal(replay, false).remove();
        assertThat(root()).isEmptyDirectory();
    }

    @Test
    void whatHasEndedLongAgoIsChosenByItsAge() throws Exception {
        endedDaysAgo("finished", 8, Outcome.finished());
        ReplayDirectory cancelled = create(TestReplays.local("cancelled"));
        cancelled.wantCancel();
        endedDaysAgo(cancelled, 8, Outcome.failed("ended from another terminal"));
        endedDaysAgo("failed", 8, Outcome.failed("a full disk"));
        endedDaysAgo("new", 6, Outcome.finished());

        ReplayVerb removal = remove("--ended", "--older-than", "7d");
        assertThat(removal.out())
                .isEqualTo("replay cancelled is removed\nreplay finished is removed\n");
        assertThat(names()).containsExactly("failed", "new");
        assertThat(remove("--ended").out()).isEqualTo("replay new is removed\n");
        assertThat(names()).containsExactly("failed");
    }

    private void endedDaysAgo(String id, int days, Outcome outcome) throws Exception {
        endedDaysAgo(create(TestReplays.local(id)), days, outcome);
    }

    private static void endedDaysAgo(ReplayDirectory replay, int days, Outcome outcome)
            throws Exception {
        replay.ended(outcome);
        Files.setLastModifiedTime(
                replay.path().resolve("outcome.json"),
                FileTime.from(Instant.now().minus(Duration.ofDays(days))));
    }

    private List<String> names() throws CommandFailure {
        return new KeptReplays(root())
                .all().stream().map(replay -> replay.path().getFileName().toString()).toList();
    }

    @Test
    void whatCannotBeRemovedOrReadDoesNotKeepTheOthers() throws Exception {
        create(TestReplays.local(ID)).ended(Outcome.finished());
        create(TestReplays.local("other")).ended(Outcome.finished());
        Files.createDirectory(root().resolve("broken"));
        Files.writeString(root().resolve("broken/plan.json"), "{");

        ReplayVerb removal = remove("broken", "nothing", "other", "other", "--json");
        assertThat(removal.code()).isEqualTo(ExitCode.FAILURE);
        assertThat(removal.err()).isEmpty();
        JsonNode list = new ObjectMapper().readTree(removal.out());
        assertThat(list.findValuesAsText("id")).containsExactly("broken", "nothing", "other");
        assertThat(list.findValuesAsText("removed")).containsExactly("false", "false", "true");
        assertThat(list.path(0).path("problem").asText())
                .contains("plan.json", "delete " + root().resolve("broken") + " yourself");
        assertThat(list.path(1).path("problem").asText()).contains("there is no replay nothing");
        assertThat(list.path(2).path("problem").isNull()).isTrue();

        ReplayVerb ended = remove("--ended");
        assertThat(ended.code()).as(ended.err()).isEqualTo(ExitCode.OK);
        assertThat(ended.out()).isEqualTo("replay mine is removed\n");
        assertThat(names()).containsExactly("broken");
    }

    /** It was gone in one step, and its files were not. */
    @Test
    void whatARemovalThatWasCutOffHasLeftIsNoReplayAndIsRemoved() throws Exception {
        Files.createDirectories(root().resolve(".removed-1"));
        Files.writeString(root().resolve(".removed-1/plan.json"), "{");
        assertThat(new KeptReplays(root()).all()).isEmpty();
        assertThat(remove("--ended").code()).isEqualTo(ExitCode.OK);
        assertThat(root()).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                " | name replays, or all that have ended by --ended",
                "a --ended | and not both",
                "a --older-than 7d | --older-than is for --ended",
                "--ended --older-than week | 'week' is not a duration",
            })
    void optionsThatDoNotFitAreRefused(String words, String message) {
        ReplayVerb removal = remove(words == null ? new String[0] : words.split(" "));
        assertThat(removal.code()).isEqualTo(ExitCode.USAGE);
        assertThat(removal.err()).contains(message.strip());
    }
}
