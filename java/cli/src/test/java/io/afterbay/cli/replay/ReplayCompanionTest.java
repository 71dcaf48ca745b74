package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of a replay of which nothing has come, and when that is so. */
class ReplayCompanionTest {
    private final CountDownLatch atGate = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private final UnreachableEngine engine = new UnreachableEngine();

    @TempDir private Path root;
    private ReplayDirectory directory;
    private ReplayCompanion companion;

    @BeforeEach
    void create() throws Exception {
        directory =
                ReplayDirectory.create(
                        root,
                        TestReplays.blocking("past"),
                        TestReplays.engine(),
                        new RateChoice(Rate.MAX, false));
        directory.liveStop(
                new LiveStop(LiveStop.Phase.BACK, "0a", "file:/sp", 1, null, null, null, null));
        companion = new ReplayCompanion(directory, directory.plan(), null);
    }

    @Test
    void aSavepointOfTheLiveJobIsNotRemoved() throws Exception {
        assertThat(companion.hasNothingBegun()).isTrue();
        Path savepoint = directory.path().resolve("savepoints/0a/savepoint-1");
        Files.createDirectories(savepoint);
        assertThat(companion.hasNothingBegun()).isTrue();
        Files.writeString(savepoint.resolve("_metadata"), "");
        assertThat(companion.hasNothingBegun()).isFalse();
    }

    /** It may have asked the live job to stop, and not have noted so when somebody looks. */
    @Test
    void theDirectoryStaysAsLongAsTheProgramMayStopTheLiveJob() throws Exception {
        directory.liveStop(stopped());
        companion.starting(engine);
        directory.forgetLiveStop();
        engine.submissions().rewriteBy(job -> {});
        engine.submissions().beforeSubmission(job -> waitAtGate());
        FutureTask<Object> program = new FutureTask<>(this::submit);
        new Thread(program).start();
        atGate.await();
        assertThat(companion.hasNothingBegun()).isFalse();
        open.countDown();
        assertThatThrownBy(program::get)
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("was not started: the run has been ended");
        assertThat(companion.hasNothingBegun()).isTrue();
    }

    /** As one that is begun anew and whose jar is gone: its user may bring that back. */
    @Test
    void whatAProcessBeforeHasBegunStays() throws Exception {
        directory.liveStop(stopped());
        companion.starting(engine);
        directory.forgetLiveStop();
        assertThat(companion.hasNothingBegun()).isTrue();
        assertThat(new ReplayCompanion(directory, directory.plan(), null).hasNothingBegun())
                .isFalse();
    }

    /** A live job that is stopped already is not looked for. */
    private static LiveStop stopped() {
        return new LiveStop(LiveStop.Phase.STOPPED, "0a", "file:/sp", 1, null, null, null, null);
    }

    private void waitAtGate() throws CommandFailure {
        atGate.countDown();
        try {
            open.await();
        } catch (InterruptedException e) {
            throw new CommandFailure("interrupted", e);
        }
    }

    private Object submit() throws Exception {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
        environment.fromSequence(0, 9).sinkTo(new DiscardingSink<>());
        return engine.submissions()
                .execute(
                        environment.getStreamGraph(),
                        new Configuration(),
                        ReplayCompanionTest.class.getClassLoader());
    }
}
