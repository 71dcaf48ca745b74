package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.QueryProcess.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
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

    private static List<Phase> phases() {
        return IS_LONG
                ? longPhases()
                : List.of(
                        new Phase(QueryKind.WINDOWS, Mode.STRICT),
                        new Phase(QueryKind.WINDOWS, Mode.PIPELINED),
                        new Phase(QueryKind.PROCESSOR, Mode.PIPELINED),
                        new Phase(QueryKind.JOIN, Mode.STRICT));
    }

    @Test
    void killsOfDriverAndExecutorsLoseNothingAndDoubleNothing() throws Exception {
        checkLikeVanilla(killInAll(phases()));
    }

    static List<Mode> strictOrBoth() {
        return IS_LONG ? List.of(Mode.STRICT, Mode.PIPELINED) : List.of(Mode.STRICT);
    }

    static List<Mode> pipelinedOrBoth() {
        return IS_LONG ? List.of(Mode.STRICT, Mode.PIPELINED) : List.of(Mode.PIPELINED);
    }

    @ParameterizedTest
    @MethodSource("strictOrBoth")
    void aBatchWhoseStateDiedWithItsExecutorsRunsAgain(Mode mode) throws Exception {
        try (Application application = start(mode, flaky("3000"))) {
            awaitBatch(application);
            awaitBatch(application);
            long batch = query.sink.last();
            assertThat(query.directory.resolve("checkpoint/commits/" + batch)).doesNotExist();
            assertThat(application.executors()).hasSize(2).allMatch(ProcessHandle::destroyForcibly);
            awaitBatch(application);
            assertThat(Application.failures(dir))
                    .contains("commits/" + batch + ": state file " + (batch + 1) + "_")
                    .contains("no executor has it");

            while (!query.isDone()) {
                pause(application);
            }
            Thread.sleep(500); // the commit is written, and its state is not published
            assertThat(application.stop()).isZero();
            assertThat(query.last("commits")).isEqualTo(query.sink.last());
        }
        checkLikeVanilla(List.of(query));
    }

    /**
     * Spark believes for two minutes that it lives; its late files are nobody's. In strict mode the
     * driver finds out before; in pipelined mode it waits for tasks that hang, too.
     */
    @ParameterizedTest
    @MethodSource("strictOrBoth")
    void anExecutorThatHangsIsTakenForDeadAndDoesNoHarmWhenItComesBack(Mode mode) throws Exception {
        query = new Subject(QueryKind.FIRST_ONES);
        try (Application application = start(mode, flaky("3000"))) {
            awaitBatch(application);
            long batch = query.sink.last();
            application.signalExecutors("STOP");
            while (!Application.failures(dir).contains("no executor has it")) {
                assertThat(query.last("commits")).isLessThan(batch);
                pause(application);
            }
            application.signalExecutors("CONT");
            awaitBatch(application);
            application.killAll();
        }
        checkLikeVanilla(List.of(query));
    }

    @ParameterizedTest
    @MethodSource("pipelinedOrBoth")
    void nothingIsCommittedThatExecutorsHaveNotPublished(Mode mode) throws Exception {
        query = new Subject(QueryKind.ONE_PARTITION);
        try (Application application = start(mode, flaky("60000"))) {
            awaitBatch(application);
            query.feed();
            Thread.sleep(3_000); // time to go wrong
            assertThat(query.last("commits")).isEqualTo(-1);
            assertThat(query.last("offsets")).isZero();
            assertThat(query.sink.last()).isZero(); // tasks of the next batch are held
            application.killAll();
        }
        checkLikeVanilla(List.of(query));
    }

    /** The control. */
    @Test
    void withoutAcknowledgementsVanillaSparkDoesNotGoOn() throws Exception {
        try (Application application = start(Mode.UNGATED, flaky("60000"))) {
            while (query.last("commits") < 0) {
                query.feed();
                pause(application);
            }
            application.killAll();
        }
        query.input.add(1);
        try (Application vanilla = startVanilla(List.of(query.kind), dir)) {
            assertThat(vanilla.awaitEnd()).isEqualTo(1);
        }
        assertThat(Application.failures(dir)).contains(".changelog");
    }
}
