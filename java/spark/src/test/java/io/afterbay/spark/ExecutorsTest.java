package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.publish.Backoff;
import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.spark.publish.StateLedger;
import io.afterbay.spark.publish.WriterReport;
import io.afterbay.spark.publish.WrittenStates;
import io.afterbay.testing.Await;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A driver and an executor as two processes would have them, without Spark. */
class ExecutorsTest {
    private static final String UUID = "9f3c1c52-0c0e-4a55-8a4e-0d7f5a1f2b3c";
    private static final String CHANGELOG = "state/0/1/1_" + UUID + ".changelog";
    private static final String COMMIT = "v2\n{\"stateUniqueIds\":{\"0\":[[\"" + UUID + "\"]]}}";
    private static final long PATIENCE = Await.DEADLINE.toNanos();
    private static final PublishSettings SETTINGS =
            new PublishSettings(2, 100, 1 << 20, PATIENCE, 1, PATIENCE, new Backoff(1, 1), 0, 0);

    @TempDir java.nio.file.Path dir;
    private final CountDownLatch released = new CountDownLatch(1);
    private final StateLedger ledger = new StateLedger(PATIENCE);
    private final WrittenStates states = new WrittenStates("executor 1");
    private final AtomicInteger reports = new AtomicInteger();
    private volatile boolean isBroken;
    private QueryOptions options = QueryOptions.strict();
    private Path root;
    private Checkpoints driver;
    private Checkpoints executor;
    private Reporter reporter;

    /** The executor's storage: it writes nothing until it is released. */
    private final class Held extends FileSystemBasedCheckpointFileManager {
        Held(Path path) {
            super(path, new Configuration(false));
        }

        @Override
        public FSDataOutputStream createTempFile(Path path) {
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (isBroken) {
                throw Rethrown.as(new IOException("disk on fire"));
            }
            return super.createTempFile(path);
        }
    }

    @BeforeEach
    void start() throws Exception {
        root = new Path(Files.createDirectory(dir.resolve("ckpt")).toUri());
        driver =
                new Checkpoints(
                        SETTINGS,
                        Files.createDirectory(dir.resolve("driver")),
                        new DriverPeers(ledger));
        executor =
                new Checkpoints(
                        SETTINGS,
                        Files.createDirectory(dir.resolve("executor")),
                        new ExecutorPeers(states, this::ask, SETTINGS.waitNanosMax()));
        reporter = new Reporter(states, executor::busy, this::ask);
        reporter.start();
    }

    private Object ask(Object message) {
        if (message instanceof WriterReport) {
            reports.incrementAndGet();
        }
        return PluginOnDriver.receive(message, ledger, driver);
    }

    @AfterEach
    void end() throws InterruptedException {
        released.countDown();
        reporter.close();
        driver.abandon();
        executor.abandon();
        PublisherThreads.awaitEnd(dir);
    }

    @Test
    void theDriverPublishesACommitWhenTheExecutorHasPublishedItsState() throws Exception {
        CancellableFSDataOutputStream state = create(onExecutor("state/0/1"), CHANGELOG);
        write(onExecutor("state/0/1"), CHANGELOG + ".crc", "checksum");
        state.write("state".getBytes(StandardCharsets.UTF_8));
        state.close();
        write(onDriver("commits"), "commits/0", COMMIT);
        Thread.sleep(50); // time to go wrong
        assertThat(dir.resolve("ckpt/commits/0")).doesNotExist();
        assertThat(text(onExecutor("state/0/1"), CHANGELOG)).isEqualTo("state"); // local
        released.countDown();
        write(onDriver("offsets"), "offsets/1", "offsets"); // waits for all
        assertThat(dir.resolve("ckpt/commits/0")).hasContent(COMMIT);
        assertThat(dir.resolve("ckpt/" + CHANGELOG)).hasContent("state");
        assertThat(dir.resolve("ckpt/" + CHANGELOG + ".crc")).hasContent("checksum");
    }

    /** A task was at work when the query was stopped: no commit will name what it has written. */
    @Test
    void theEndOfAQueryWaitsForStateThatExecutorsStillWrite() throws Exception {
        onDriver("commits");
        write(onExecutor("state/0/1"), CHANGELOG, "state");
        String location = CheckpointFiles.location(new Path(root, "commits"));
        assertThat(executor.busy()).containsExactly(location);
        Checkpoint ended = driver.get(location, null);
        CompletableFuture<Void> end = CompletableFuture.runAsync(() -> end(ended));
        Await.until("the end waits for reports", ExecutorsTest::isIdleAwaited);
        int before = reports.get();
        Await.until("two more reports", () -> reports.get() >= before + 2);
        assertThat(end.isDone()).isFalse();
        released.countDown();
        end.get();
        assertThat(dir.resolve("ckpt/" + CHANGELOG)).hasContent("state");
        assertThat(executor.busy()).isEmpty();
    }

    private static boolean isIdleAwaited() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Stream::of)
                .anyMatch(f -> f.getMethodName().equals("awaitIdle"));
    }

    private void end(Checkpoint checkpoint) {
        try {
            driver.end(checkpoint);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCommitWhoseStateNobodyHasFailsTheQuery() throws Exception {
        CancellableFSDataOutputStream cancelled = create(onExecutor("state/0/1"), CHANGELOG);
        cancelled.cancel();
        write(onDriver("commits"), "commits/0", COMMIT);
        assertThatThrownBy(() -> write(onDriver("offsets"), "offsets/1", "offsets"))
                .hasMessageContaining("commits/0: state file 1_" + UUID + " was not published")
                .hasMessageContaining("no executor has it");
        assertThat(dir.resolve("ckpt/commits/0")).doesNotExist();
    }

    @Test
    void anExecutorThatCannotPublishFailsTheQueryWithItsReason() throws Exception {
        isBroken = true;
        AfterbayCheckpointFileManager commits = onDriver("commits");
        AfterbayCheckpointFileManager offsets = onDriver("offsets");
        write(onExecutor("state/0/1"), CHANGELOG, "state");
        write(commits, "commits/0", COMMIT);
        released.countDown();
        assertThatThrownBy(() -> write(offsets, "offsets/1", "offsets"))
                .hasMessageContaining("cannot publish " + dir.resolve("ckpt/" + CHANGELOG))
                .hasMessageContaining("disk on fire");

        // The run that follows begins with what is in the storage, on both.
        isBroken = false;
        write(onExecutor("state/0/1"), CHANGELOG.replace("9f", "8e"), "state");
        write(onDriver("commits"), "commits/0", COMMIT.replace("9f", "8e"));
        write(onDriver("offsets"), "offsets/1", "offsets");
        assertThat(dir.resolve("ckpt/commits/0")).exists();
    }

    /** Its answer was lost, or what failed was of the run before: the run of now is another one. */
    @Test
    void whatAnExecutorSaysOfTheRunBeforeFailsNoOther() throws Exception {
        released.countDown();
        String location = CheckpointFiles.location(new Path(root, "commits"));
        write(onExecutor("state/0/1"), CHANGELOG, "state");
        write(onDriver("commits"), "commits/0", COMMIT);
        ask(
                new WriterReport(
                        "executor 1",
                        0,
                        0,
                        Map.of(),
                        Set.of(),
                        Set.of(),
                        Map.of(location, "its disk was full"),
                        false));
        write(onDriver("offsets"), "offsets/1", "offsets");
        assertThat(dir.resolve("ckpt/commits/0")).exists();
    }

    @Test
    void theLastReportOfAnExecutorThatEndsIsHeard() throws Exception {
        write(onExecutor("state/0/1"), CHANGELOG, "state");
        write(onDriver("commits"), "commits/0", COMMIT);
        released.countDown();
        executor.close();
        reporter.close();
        driver.close();
        assertThat(dir.resolve("ckpt/commits/0")).hasContent(COMMIT);
    }

    /** The driver must hear several reports while it publishes what waits. */
    @Test
    void theDriverHearsItsExecutorsWhileItEnds() throws Exception {
        states.created(CheckpointFiles.location(new Path(root, "commits")), "1_second");
        write(onExecutor("state/0/1"), CHANGELOG, "state");
        write(onDriver("commits"), "commits/0", COMMIT.replace("\"]", "\",\"second\"]"));
        CompletableFuture<Void> end = CompletableFuture.runAsync(driver::close);
        released.countDown();
        Thread.sleep(100); // the first is reported
        assertThat(end.isDone()).isFalse();
        states.published("1_second");
        end.get();
        assertThat(dir.resolve("ckpt/commits/0")).exists();
    }

    @Test
    void whatIsNotStateIsWrittenInPlace() throws Exception {
        released.countDown();
        String archive = "state/0/1/1_" + UUID + ".zip";
        CancellableFSDataOutputStream out = create(onExecutor("state/0/1"), archive);
        out.close();
        assertThat(dir.resolve("ckpt/" + archive)).exists();
    }

    @Test
    void inPipelinedModeATaskEndsWhenItsOffsetsArePublished() throws Exception {
        options = QueryOptions.pipelined();
        write(onDriver("offsets"), "offsets/0", "offsets");
        write(onExecutor("state/0/1"), CHANGELOG, "state"); // returns: they are
        write(onDriver("commits"), "commits/0", COMMIT);
        write(onDriver("offsets"), "offsets/1", "offsets"); // behind the commit
        String next = CHANGELOG.replace("1_" + UUID, "2_" + UUID);
        CompletableFuture<Void> task =
                inBackground(() -> write(onExecutor("state/0/1"), next, "state"));
        assertThatThrownBy(() -> task.get(100, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        assertThat(dir.resolve("ckpt/offsets/1")).doesNotExist();
        released.countDown();
        task.get();
        assertThat(dir.resolve("ckpt/offsets/1")).exists();
    }

    @Test
    void inPipelinedModeATaskWaitsForTheStateOfAnotherExecutor() throws Exception {
        options = QueryOptions.pipelined();
        write(onDriver("offsets"), "offsets/0", "offsets");
        write(onExecutor("state/0/1"), CHANGELOG, "state");
        write(onDriver("commits"), "commits/0", COMMIT);
        Checkpoints other =
                new Checkpoints(
                        SETTINGS,
                        Files.createDirectory(dir.resolve("other")),
                        new ExecutorPeers(new WrittenStates("executor 2"), this::ask, PATIENCE));
        CompletableFuture<Void> task =
                inBackground(
                        () ->
                                assertThat(text(on(other, "state/0/1"), CHANGELOG))
                                        .isEqualTo("state"));
        assertThatThrownBy(() -> task.get(100, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        released.countDown();
        task.get();

        // What nobody will publish is not there, as without us.
        assertThatThrownBy(() -> text(on(other, "state/0/1"), CHANGELOG.replace("9f", "8e")))
                .isInstanceOf(FileNotFoundException.class);
        other.abandon();
    }

    @Test
    void inPipelinedModeTasksHearThatTheQueryHasFailed() throws Exception {
        options = QueryOptions.pipelined();
        write(onDriver("offsets"), "offsets/0", "offsets");
        create(onExecutor("state/0/1"), CHANGELOG).cancel();
        write(onDriver("commits"), "commits/0", COMMIT);
        assertThatThrownBy(
                        () ->
                                write(
                                        onExecutor("state/0/1"),
                                        CHANGELOG.replace("/1_9f", "/2_8e"),
                                        "state"))
                .hasStackTraceContaining("no executor has it");
    }

    /** All that executors say comes on one thread, which must not wait for the storage. */
    @Test
    void theDriverHearsItsExecutorsWhileItsStorageHangs() throws Exception {
        AtomicInteger questions = new AtomicInteger();
        Files.createDirectories(dir.resolve("ckpt/offsets"));
        Files.writeString(dir.resolve("ckpt/offsets/0"), "of a run before");
        new AfterbayCheckpointFileManager(
                new Path(root, "offsets"), new Hanging(questions), driver, options);
        PublishedQuestion question =
                new PublishedQuestion(
                        CheckpointFiles.location(new Path(root, "offsets")),
                        dir.resolve("ckpt/offsets/0").toString());
        for (int i = 0; i < 3; i++) {
            assertThat(inTime(question)).isEqualTo(false);
        }
        assertThat(inTime(new WrittenStates("executor 2").report(0, Set.of(), false)))
                .isEqualTo(0L);
        released.countDown();
        while (inTime(question).equals(false)) {
            Thread.sleep(1);
        }
        assertThat(inTime(question)).isEqualTo(true);
        assertThat(questions).hasValue(1);
    }

    private Object inTime(Object message) throws Exception {
        return CompletableFuture.supplyAsync(() -> ask(message))
                .get(PATIENCE, TimeUnit.NANOSECONDS);
    }

    /** Says what is there when it is released. */
    private final class Hanging extends FileSystemBasedCheckpointFileManager {
        private final AtomicInteger questions;

        Hanging(AtomicInteger questions) {
            super(root, new Configuration(false));
            this.questions = questions;
        }

        @Override
        public boolean exists(Path path) {
            questions.incrementAndGet();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return super.exists(path);
        }
    }

    /** A driver that does not answer is asked again. */
    @Test
    void anExecutorRepeatsWhatWasNotAnswered() throws Exception {
        CountDownLatch asked = new CountDownLatch(3);
        WrittenStates own = new WrittenStates("executor 2");
        Reporter lonely =
                new Reporter(
                        own,
                        Set::of,
                        report -> {
                            WriterReport said = (WriterReport) report;
                            if (said.durable().isEmpty()) {
                                return 0L;
                            }
                            asked.countDown();
                            throw new IOException("no answer");
                        });
        lonely.start();
        own.created("ckpt", "1_a");
        own.published("1_a");
        asked.await();
        lonely.close();
    }

    private interface Action {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> inBackground(Action action) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        action.run();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
    }

    private AfterbayCheckpointFileManager onDriver(String directory) {
        return on(driver, directory);
    }

    private AfterbayCheckpointFileManager on(Checkpoints process, String directory) {
        Path path = new Path(root, directory);
        return new AfterbayCheckpointFileManager(
                path,
                new FileSystemBasedCheckpointFileManager(path, new Configuration(false)),
                process,
                options);
    }

    private AfterbayCheckpointFileManager onExecutor(String directory) {
        Path path = new Path(root, directory);
        return new AfterbayCheckpointFileManager(path, new Held(path), executor, options);
    }

    private CancellableFSDataOutputStream create(AfterbayCheckpointFileManager files, String name) {
        return files.createAtomic(new Path(root, name), false);
    }

    private void write(AfterbayCheckpointFileManager files, String name, String text)
            throws IOException {
        CancellableFSDataOutputStream out = create(files, name);
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.close();
    }

    private String text(AfterbayCheckpointFileManager files, String name) throws IOException {
        try (var in = files.open(new Path(root, name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
