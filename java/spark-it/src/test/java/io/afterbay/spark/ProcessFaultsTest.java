package io.afterbay.spark;

import static io.afterbay.testing.TestForm.SPARK_KILLS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.QueryProcess.Mode;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Driver and executors are processes, storage is slow and flaky, and processes are killed with -9.
 * Then vanilla Spark goes on from what they left.
 */
@Timeout(value = 150, unit = TimeUnit.MINUTES)
class ProcessFaultsTest extends FaultTest {
    @Override
    Input newInput(QueryKind kind) throws IOException {
        return new InputFiles(Files.createDirectories(all.resolve("input").resolve(kind.name())));
    }

    @Override
    String inputs() {
        return all.resolve("input").toString();
    }

    /**
     * Of both modes. In the long form, each was in each moment when a driver was killed, and an
     * executor.
     */
    @Test
    void killsOfDriverAndExecutorsLoseNothingAndDoubleNothing() throws Exception {
        if (TestForm.IS_LONG) {
            Kills kills = killInAll(SPARK_KILLS, QueryKind.values());
            checkLikeVanilla(kills.subjects());
            kills.checkAllMoments();
        } else {
            checkGoesOn(killInAll(SPARK_KILLS, QueryKind.WINDOWS, QueryKind.JOIN).subjects());
        }
    }

    static List<Mode> ungatedOrBoth() {
        return TestForm.IS_LONG
                ? List.of(Mode.UNGATED, Mode.UNGATED_PIPELINED)
                : List.of(Mode.UNGATED);
    }

    /**
     * Spark believes for two minutes that executors live that hang; their late files are nobody's.
     * In strict mode the driver finds out before; in pipelined mode it waits for tasks that hang,
     * too. Then they die, and their state with them.
     */
    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"STRICT", "PIPELINED"})
    @LongForm
    void aBatchRunsAgainWhoseStateWasOnExecutorsThatHangOrDie(Mode mode) throws Exception {
        query = subject(QueryKind.FIRST_ONES);
        try (Application application = start(mode, flaky("3000"))) {
            awaitBatch(application);
            long hung = query.sink.last();
            application.signalExecutors("STOP");
            awaitLost(application, hung);
            application.signalExecutors("CONT"); // and what they write now does no harm
            awaitBatch(application);

            awaitBatch(application);
            long dead = query.sink.last();
            assertThat(query.last("commits")).isLessThan(dead);
            assertThat(application.executors()).hasSize(2).allMatch(ProcessHandle::destroyForcibly);
            awaitLost(application, dead);
            awaitBatch(application);

            while (!query.isDone()) {
                pause(application);
            }
            Thread.sleep(1_500); // the commit is written, and its state is not published
            assertThat(application.stop()).isZero();
            assertThat(query.last("commits")).isEqualTo(query.sink.last());
        }
        checkGoesOn(List.of(query));
    }

    private void awaitLost(Application application, long batch) throws Exception {
        Pattern lost =
                Pattern.compile(
                        "commits/"
                                + batch
                                + ": state file "
                                + (batch + 1)
                                + "_.* was not published, and no executor has it");
        while (!lost.matcher(Application.failures(dir)).find()) {
            assertThat(query.last("commits")).isLessThan(batch);
            pause(application);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"STRICT", "PIPELINED"})
    @LongForm
    void nothingIsCommittedThatExecutorsHaveNotPublished(Mode mode) throws Exception {
        query = subject(QueryKind.ONE_PARTITION);
        try (Application application = start(mode, flaky("60000"))) {
            awaitBatch(application);
            query.feed();
            Thread.sleep(3_000); // time to go wrong
            assertThat(query.last("commits")).isEqualTo(-1);
            assertThat(query.last("offsets")).isZero();
            assertThat(query.sink.last()).isZero(); // tasks of the next batch are held
            application.killAll();
        }
        checkGoesOn(List.of(query));
    }

    /** The control. */
    @ParameterizedTest
    @MethodSource("ungatedOrBoth")
    void withoutAcknowledgementsVanillaSparkDoesNotGoOn(Mode mode) throws Exception {
        checkControl(mode);
    }

    /**
     * Whoever removes too many lines hears of it, and loses nothing. {@link MigrationTest} has it
     * in one process.
     */
    @Test
    @LongForm
    void withoutFormat2VanillaSparkFailsUntilItIsSetAgain() throws Exception {
        query = subject(QueryKind.FIRST_ONES);
        try (Application application = start(Mode.STRICT, Map.of())) {
            awaitBatch(application);
            awaitBatch(application);
            application.killAll();
        }
        query.input.add(1);
        try (Application vanilla =
                Application.vanilla(
                        platform(),
                        List.of(query.kind),
                        inputs(),
                        List.of(dir),
                        QuerySettings.FORMAT + "=1")) {
            assertThat(vanilla.awaitEnd()).isEqualTo(1);
        }
        assertThat(Application.failures(dir))
                .contains(MigrationTest.WITHOUT_FORMAT_2)
                .containsAnyOf(MigrationTest.WITHOUT_FORMAT_2_CAUSES);
        checkGoesOn(List.of(query));
    }

    /** The control of {@link #checkRows}: a batch of the sink is lost, or there twice. */
    @Test
    void aBatchThatTheSinkDropsOrDoublesIsFound() throws Exception {
        query = subject(QueryKind.FIRST_ONES);
        query.input.add(2);
        List<String> all = query.kind.expected(query.input.steps());
        Path sink = query.directory.resolve("sink");
        Files.write(sink.resolve("0"), all.subList(0, all.size() / 2));
        String rows = String.join("\n", all.subList(all.size() / 2, all.size()));
        assertThat(rows).isNotEmpty();
        Path batch = sink.resolve("1");

        Files.writeString(batch, "");
        checkIsFound();
        Files.writeString(batch, rows + "\n" + rows);
        checkIsFound();
        Files.writeString(batch, rows);
        checkRows(List.of(query)); // nothing else was wrong
    }

    private void checkIsFound() {
        assertThatThrownBy(() -> checkRows(List.of(query)))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("[FIRST_ONES]");
    }
}
