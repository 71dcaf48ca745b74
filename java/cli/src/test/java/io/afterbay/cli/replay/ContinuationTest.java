package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayOrders;
import io.afterbay.replay.ReplayProgress;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A replay that is resumed while its job is late, or another command resumes it, too. */
class ContinuationTest {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final ReplayProgress PROGRESS = new ReplayProgress(7, 1, 600, false);

    /** Of {@link #JOB}; null as long as the cluster does not know it. */
    private String state;

    /** Is done before a request to the cluster is answered. */
    private Hook hook = number -> {};

    private int requests;
    private Duration patience = Duration.ofMinutes(1);
    private final List<ReplayPlan> runs = new ArrayList<>();
    @TempDir private Path root;
    private ReplayDirectory replay;

    private interface Hook {
        void before(int request) throws IOException;
    }

    /** It has read records, and has a checkpoint; its command is dead. */
    @BeforeEach
    void interrupt() throws Exception {
        Path made =
                ReplayDirectory.create(
                                root,
                                TestReplays.blocking("past"),
                                TestReplays.engine(),
                                new RateChoice(500, false))
                        .path();
        replay = ReplayDirectory.of(made, address -> new ClusterRest(address, this::answer));
        replay.job(new ReplayJob(TestReplays.CLUSTER, JOB));
        control().tell(PROGRESS);
        Path checkpoint = made.resolve("checkpoints/job/chk-4");
        Files.createDirectories(checkpoint);
        Files.writeString(checkpoint.resolve("_metadata"), "");
    }

    private ClusterRest.Answer answer(HttpRequest request) throws IOException {
        hook.before(++requests);
        if (state == null || !request.uri().getPath().equals("/jobs/" + JOB)) {
            return new ClusterRest.Answer(404, "{}");
        }
        if (request.method().equals("PATCH")) {
            state = "CANCELED";
        }
        return new ClusterRest.Answer(200, "{\"state\": \"%s\"}".formatted(state));
    }

    private ReplayControl control() throws CommandFailure {
        return new ReplayControl(replay.controlUri());
    }

    private int resume(boolean anew) throws Exception {
        return new Continuation(
                        replay,
                        new Continuation.Processes() {
                            @Override
                            public int run(ReplayPlan plan) throws CommandFailure {
                                runs.add(plan);
                                return began();
                            }

                            @Override
                            public int follow(ReplayJob job) {
                                throw new AssertionError("followed: " + job);
                            }
                        },
                        new Waiting(0, patience))
                .resume(anew, null);
    }

    /** What its process finds. */
    private int began() throws CommandFailure {
        try {
            ReplayOrders orders = control().orders();
            assertThat(orders.areFor(JOB)).as("a job that comes late is wanted").isFalse();
            assertThat(orders.jobId()).isEqualTo(replay.job().orElseThrow().id());
            assertThat(replay.isHeld()).isTrue();
            return ExitCode.OK;
        } catch (IOException e) {
            throw new CommandFailure("control", e);
        }
    }

    /** A command that was killed may have sent it long ago. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aJobThatComesLateIsNotWantedFromTheMomentAtWhichItsReplayBeginsAgain(boolean anew)
            throws Exception {
        assertThat(resume(anew)).isEqualTo(ExitCode.OK);
        assertThat(runs).hasSize(1);
        assertThat(replay.progress().isPresent()).isEqualTo(!anew);
        if (anew) {
            assertThat(runs.get(0).run().from()).isNull();
        } else {
            assertThat(runs.get(0).run().from()).endsWith("chk-4");
        }
        assertThat(replay.isHeld()).isFalse();
    }

    /** Where the first one was is nothing to go on from then. */
    @Test
    void whatIsBegunAnewAndEndsBeforeItHasACheckpointBeginsAtTheBeginningAgain() throws Exception {
        for (boolean anew : List.of(true, false)) {
            assertThat(resume(anew)).isEqualTo(ExitCode.OK);
        }
        assertThat(runs).hasSize(2).allSatisfy(plan -> assertThat(plan.run().from()).isNull());
    }

    /** Between the look at the cluster and the new identifier. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aJobThatComesAtThatMomentIsEndedFirst(boolean anew) throws Exception {
        int looks = 2;
        hook = request -> state = request == looks + 1 ? "RUNNING" : state;
        assertThat(resume(anew)).isEqualTo(ExitCode.OK);
        assertThat(state).isEqualTo("CANCELED");
        assertThat(runs).hasSize(1);
    }

    /** Else nobody would ask for it any more, and the next command would begin beside it. */
    @Test
    void aJobOfWhichNobodyKnowsWhetherItHasEndedStaysNoted() throws Exception {
        int looks = 2;
        hook =
                request -> {
                    if (request == looks + 1) {
                        throw new IOException("silence");
                    }
                };
        assertThatThrownBy(() -> resume(true))
                .hasMessageContaining("whether replay past runs is not known")
                .hasMessageContaining("silence");
        assertJobStaysNoted();
        assertThat(resume(true)).isEqualTo(ExitCode.OK);
        assertThat(runs).hasSize(1);
    }

    @Test
    void soDoesOneThatDoesNotEnd() throws Exception {
        int looks = 2;
        patience = Duration.ZERO;
        hook = request -> state = request > looks ? "CANCELLING" : state;
        assertThatThrownBy(() -> resume(false))
                .hasMessageContaining("job %s of replay past has not ended".formatted(JOB))
                .hasMessageContaining("cancel it at http://flink:8081, and try again");
        assertJobStaysNoted();
        assertThat(replay.state()).isEqualTo(ReplayState.RUNNING);
    }

    private void assertJobStaysNoted() throws Exception {
        assertThat(runs).isEmpty();
        assertThat(replay.job()).contains(new ReplayJob(TestReplays.CLUSTER, JOB));
        assertThat(control().orders()).isEqualTo(new ReplayOrders(500, JOB, false));
        assertThat(replay.progress()).contains(PROGRESS);
        assertThat(replay.newestCheckpoint()).isPresent();
        assertThat(replay.isHeld()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatAnotherCommandHasBegunMeanwhileIsNotForgotten(boolean anew) throws Exception {
        replay.failed("a full disk");
        int lastLook = 2;
        List<HeldReplay> others = new ArrayList<>();
        hook =
                request -> {
                    if (request == lastLook) {
                        others.add(HeldReplay.hold(replay.path(), ReplayLock.Holder.COMMAND));
                    }
                };
        try {
            assertThatThrownBy(() -> resume(anew))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessage("replay past runs already");
        } finally {
            others.forEach(HeldReplay::close);
        }
        assertThat(others).hasSize(1);
        assertThat(runs).isEmpty();
        assertThat(replay.job()).contains(new ReplayJob(TestReplays.CLUSTER, JOB));
        assertThat(replay.progress()).contains(PROGRESS);
        assertThat(replay.ended()).isPresent();
    }

    /** It may have finished, and been cancelled, before this one could hold it. */
    @Test
    void whatAnotherCommandHasEndedMeanwhileIsNotBegunAgain() throws Exception {
        int lastLook = 2;
        hook =
                request -> {
                    if (request == lastLook) {
                        Files.writeString(
                                replay.path().resolve("outcome.json"), "{\"state\":\"CANCELLED\"}");
                    }
                };
        assertThatThrownBy(() -> resume(true)).hasMessage("replay past is cancelled");
        assertThat(runs).isEmpty();
        assertThat(replay.progress()).contains(PROGRESS);
    }

    /** Else a rate that is told at this moment fails, or names a job that nobody sends. */
    @Test
    void whatIsToldNamesTheJobThatIsNoted() throws Exception {
        assertThat(replay.supersedeJob()).contains(new ReplayJob(TestReplays.CLUSTER, JOB));
        String next = replay.job().orElseThrow().id();
        assertThat(next).hasSize(JOB.length()).isNotEqualTo(JOB);
        assertThat(control().orders()).isEqualTo(new ReplayOrders(500, next, false));
        replay.rate(new RateChoice(7, false));
        assertThat(control().orders()).isEqualTo(new ReplayOrders(7, next, false));
    }

    @Test
    void aReplayWithoutAJobOnAClusterHasNoneAfterwards() throws Exception {
        Files.delete(replay.path().resolve("job.json"));
        assertThat(replay.supersedeJob()).isEmpty();
        assertThat(replay.job()).isEmpty();
    }
}
