package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.QueryProcess.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Driver and executors are processes, storage is slow and flaky, and processes are killed with -9.
 * Then vanilla Spark goes on from what they left.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ProcessFaultsTest {
    private static final boolean IS_LONG = Boolean.getBoolean("afterbay.long");
    private static final int KILLS = IS_LONG ? 100 : 10;
    private static final int BACKLOG = 8;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(90);

    @TempDir Path all;
    private Path dir;
    private InputFiles input;
    private TransactionalSink sink;

    @BeforeEach
    void create() throws IOException {
        dir = Files.createDirectories(all.resolve("ours"));
        input = new InputFiles(Files.createDirectory(all.resolve("input")));
        sink = new TransactionalSink(Files.createDirectories(dir.resolve("sink")));
    }

    @Test
    void killsOfDriverAndExecutorsLoseNothingAndDoubleNothing() throws Exception {
        Random random = new Random(Long.getLong("test.seed", 1));
        Application application = startFlaky();
        try {
            int kills = 0;
            while (kills < KILLS) {
                awaitBatch(application);
                Thread.sleep(random.nextInt(1_000));
                String where = phase();
                boolean isDriver = kills % 5 >= 3;
                if (isDriver) {
                    application.killDriver();
                    application = startFlaky();
                }
                if (isDriver || application.killExecutor(random)) {
                    System.out.println((isDriver ? "driver" : "executor") + " killed: " + where);
                    kills++;
                }
            }
            awaitBatch(application);
            Thread.sleep(random.nextInt(1_000));
            System.out.println("all killed: " + phase());
            application.killAll();
        } finally {
            application.close();
        }
        Application.reasons(dir).forEach(System.out::println);
        checkLikeVanilla();
    }

    @Test
    void aBatchWhoseStateDiedWithItsExecutorsRunsAgain() throws Exception {
        try (Application application =
                Application.onCluster(Mode.OURS, input.directory(), dir, flaky("3000"))) {
            awaitBatch(application);
            awaitBatch(application);
            long batch = sink.last();
            assertThat(dir.resolve("checkpoint/commits/" + batch)).doesNotExist();
            assertThat(application.executors()).hasSize(2).allMatch(ProcessHandle::destroyForcibly);
            awaitBatch(application);
            assertThat(Application.failures(dir))
                    .contains("commits/" + batch + ": state file " + (batch + 1) + "_")
                    .contains("no executor has it");

            while (sink.rows().size() < StatefulQuery.windows(input.steps())) {
                pause(application);
            }
            Thread.sleep(500); // the commit is written, and its state is not published
            assertThat(application.stop()).isZero();
            assertThat(last("commits")).isEqualTo(sink.last());
        }
        checkLikeVanilla();
    }

    /** Spark believes for two minutes that it lives; its late files are nobody's. */
    @Test
    void anExecutorThatHangsIsTakenForDeadAndDoesNoHarmWhenItComesBack() throws Exception {
        try (Application application =
                Application.onCluster(Mode.OURS, input.directory(), dir, flaky("3000"))) {
            awaitBatch(application);
            long batch = sink.last();
            application.signalExecutors("STOP");
            while (!Application.failures(dir).contains("no executor has it")) {
                assertThat(last("commits")).isLessThan(batch);
                pause(application);
            }
            application.signalExecutors("CONT");
            awaitBatch(application);
            application.killAll();
        }
        checkLikeVanilla();
    }

    @Test
    void nothingIsCommittedThatExecutorsHaveNotPublished() throws Exception {
        try (Application application =
                Application.onCluster(Mode.OURS, input.directory(), dir, flaky("60000"))) {
            awaitBatch(application);
            Thread.sleep(2_000); // time to go wrong
            assertThat(last("commits")).isEqualTo(-1);
            application.killAll();
        }
        checkLikeVanilla();
    }

    /** The control. */
    @Test
    void withoutAcknowledgementsVanillaSparkDoesNotGoOn() throws Exception {
        try (Application application =
                Application.onCluster(Mode.UNGATED, input.directory(), dir, flaky("60000"))) {
            while (last("commits") < 0) {
                feed();
                pause(application);
            }
            application.killAll();
        }
        input.add(1);
        try (Application vanilla = Application.vanilla(input.directory(), dir)) {
            assertThat(vanilla.awaitEnd()).isEqualTo(1);
        }
        assertThat(Application.failures(dir)).contains(".changelog");
    }

    private Application startFlaky() throws IOException {
        return Application.onCluster(
                Mode.OURS,
                input.directory(),
                dir,
                Map.of(
                        "spark.hadoop.fs.flaky.delay-ms", "8",
                        "spark.hadoop.fs.flaky.state-delay-ms", "400",
                        "spark.hadoop.fs.flaky.errors", "2",
                        "spark.hadoop.fs.flaky.hangs", "1",
                        "spark.afterbay.commit.hangMax", "2s"));
    }

    private static Map<String, String> flaky(String stateDelayMs) {
        return Map.of(
                "spark.hadoop.fs.flaky.state-delay-ms",
                stateDelayMs,
                "spark.afterbay.commit.hangMax",
                "100s");
    }

    private void feed() throws IOException {
        if (input.steps() - 2 * sink.rows().size() < BACKLOG) {
            input.add(1);
        }
    }

    /** Until the sink has one more than now. */
    private void awaitBatch(Application application) throws Exception {
        long batch = sink.last();
        long began = System.nanoTime();
        while (sink.last() == batch) {
            feed();
            pause(application);
            assertThat(System.nanoTime() - began)
                    .as("a batch after %s; %s", batch, phase())
                    .isLessThan(WAIT_NANOS);
        }
    }

    private void pause(Application application) throws Exception {
        assertThat(application.isAlive()).as(Application.failures(dir)).isTrue();
        Thread.sleep(100);
    }

    /** Where the batches are: what is published, and what the sink has. */
    private String phase() throws IOException {
        return "offsets "
                + last("offsets")
                + ", sink "
                + sink.last()
                + ", commits "
                + last("commits");
    }

    private long last(String log) throws IOException {
        Path files = dir.resolve("checkpoint").resolve(log);
        if (!Files.exists(files)) {
            return -1;
        }
        try (Stream<Path> names = Files.list(files)) {
            return names.map(f -> f.getFileName().toString())
                    .filter(n -> n.matches("\\d+"))
                    .mapToLong(Long::parseLong)
                    .max()
                    .orElse(-1);
        }
    }

    /** Vanilla Spark goes on from here to the end; the rows are those that it has by itself. */
    private void checkLikeVanilla() throws Exception {
        input.add(3);
        runVanilla(dir);
        Path reference = Files.createDirectories(all.resolve("vanilla"));
        runVanilla(reference);
        List<String> rows = sorted(sink);
        assertThat(rows).isEqualTo(sorted(new TransactionalSink(reference.resolve("sink"))));
        assertThat(rows)
                .isEqualTo(
                        StatefulQuery.expected(StatefulQuery.windows(input.steps())).stream()
                                .sorted()
                                .toList());
        assertThat(Application.failures(dir)).doesNotContain("AssertionError");
    }

    private void runVanilla(Path directory) throws Exception {
        TransactionalSink to =
                new TransactionalSink(Files.createDirectories(directory.resolve("sink")));
        try (Application vanilla = Application.vanilla(input.directory(), directory)) {
            while (to.rows().size() < StatefulQuery.windows(input.steps())) {
                assertThat(vanilla.isAlive()).as(Application.failures(directory)).isTrue();
                Thread.sleep(100);
            }
            assertThat(vanilla.stop()).isZero();
        }
    }

    private static List<String> sorted(TransactionalSink sink) throws IOException {
        return sink.rows().stream().sorted().toList();
    }
}
