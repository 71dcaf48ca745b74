package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.spark.publish.Publisher;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AfterbayCheckpointFileManagerTest {
    private static final String CHANGELOG = "1_9f3c1c52-0c0e-4a55-8a4e-0d7f5a1f2b3c.changelog";

    @TempDir java.nio.file.Path dir;
    private final CountDownLatch released = new CountDownLatch(1);
    private QueryOptions options = QueryOptions.strict();
    private Checkpoints checkpoints;
    private Path root;

    /** A storage that writes nothing until it is released. */
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
            return super.createTempFile(path);
        }
    }

    @BeforeEach
    void create() throws IOException {
        root = new Path(Files.createDirectory(dir.resolve("ckpt")).toUri());
        java.nio.file.Path locals = Files.createDirectory(dir.resolve("locals"));
        checkpoints = new Checkpoints(PublishSettings.defaults(), locals, new Peers());
    }

    @AfterEach
    void end() throws InterruptedException {
        released.countDown();
        checkpoints.abandon();
        PublisherThreads.awaitEnd(dir);
    }

    @Test
    void servesStateAndCommitsBeforeTheyArePublished() throws Exception {
        AfterbayCheckpointFileManager state = files("state/0/1");
        AfterbayCheckpointFileManager commits = files("commits");
        Path changelog = new Path(root, "state/0/1/" + CHANGELOG);
        Path commit = new Path(root, "commits/0");
        write(state, changelog, "state");
        write(commits, commit, "commit");

        assertThat(Files.exists(dir.resolve("ckpt/commits/0"))).isFalse();
        assertThat(commits.exists(commit)).isTrue();
        assertThat(text(commits, commit)).isEqualTo("commit");
        assertThat(text(files("commits"), commit)).isEqualTo("commit"); // another one of it
        assertThat(names(state.list(new Path(root, "state/0/1")))).containsExactly(CHANGELOG);

        released.countDown();
        checkpoints.close();
        assertThat(dir.resolve("ckpt/commits/0")).hasContent("commit");
        assertThat(dir.resolve("ckpt/state/0/1/" + CHANGELOG)).hasContent("state");
        assertThat(dir.resolve("locals")).doesNotExist();
    }

    /** Each question takes as long as the storage takes for one, in every batch. */
    @Test
    void doesNotAskTheStorageWhatComesBehindItsOwnLogFile() throws Exception {
        released.countDown();
        AfterbayCheckpointFileManager commits = files("commits");
        Files.createDirectory(dir.resolve("ckpt/commits"));
        for (String batch : List.of("0", "8")) {
            Files.writeString(dir.resolve("ckpt/commits/" + batch), "of another");
        }
        assertThat(commits.exists(new Path(root, "commits/0"))).isTrue(); // a run before
        write(commits, new Path(root, "commits/7"), "commit");
        Publisher publisher = publisher();
        publisher.awaitPublished();
        assertThat(commits.exists(new Path(root, "commits/7"))).isTrue();
        assertThat(commits.exists(new Path(root, "commits/8"))).isFalse();
        assertThat(commits.exists(new Path(root, "commits/9"))).isFalse();
        write(commits, new Path(root, "commits/8"), "commit"); // and is found all the same
        assertThatThrownBy(publisher::awaitPublished)
                .hasMessageContaining("a second query uses this checkpoint");
    }

    private Publisher publisher() {
        FileManagerStorage storage = new FileManagerStorage(new Held(root), root);
        String name = Objects.requireNonNull(CheckpointFiles.location(new Path(root, "commits")));
        return checkpoints.get(name, storage).publisher();
    }

    @Test
    void listsEachFileOnce() throws Exception {
        AfterbayCheckpointFileManager commits = files("commits");
        Files.createDirectory(dir.resolve("ckpt/commits"));
        Files.writeString(dir.resolve("ckpt/commits/0"), "commit");
        write(commits, new Path(root, "commits/1"), "commit");
        FileStatus[] listed = commits.list(new Path(root, "commits"));
        assertThat(names(listed)).containsExactlyInAnyOrder("0", "1");
        assertThat(commits.list(new Path(root, "commits"), p -> false)).isEmpty();
        assertThat(listed).allMatch(s -> s.getLen() == 6 && s.isFile());
    }

    @Test
    void offsetsReturnWhenTheyAndAllBeforeThemArePublished() throws Exception {
        write(files("commits"), new Path(root, "commits/0"), "commit");
        CompletableFuture<Void> offsets =
                inBackground(() -> write(files("offsets"), new Path(root, "offsets/1"), "offsets"));
        assertThat(offsets.isDone()).isFalse();
        released.countDown();
        offsets.get();
        assertThat(dir.resolve("ckpt/commits/0")).hasContent("commit");
        assertThat(dir.resolve("ckpt/offsets/1")).hasContent("offsets");
    }

    @Test
    void inPipelinedModeOffsetsReturnAtOnceAndTasksWaitForThem() throws Exception {
        options = QueryOptions.pipelined();
        publishedBefore("offsets/0");
        write(files("commits"), new Path(root, "commits/0"), "commit");
        write(files("offsets"), new Path(root, "offsets/1"), "offsets");
        Path changelog = new Path(root, "state/0/1/2" + CHANGELOG.substring(1));
        CompletableFuture<Void> task =
                inBackground(() -> write(files("state/0/1"), changelog, "state"));
        assertThatThrownBy(() -> task.get(50, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        assertThat(dir.resolve("ckpt/offsets/1")).doesNotExist();
        released.countDown();
        task.get();
        assertThat(dir.resolve("ckpt/commits/0")).hasContent("commit");
        assertThat(dir.resolve("ckpt/offsets/1")).hasContent("offsets");
    }

    /** Spark does not begin in a checkpoint that has state and no offsets. */
    @Test
    void inPipelinedModeTheFirstOffsetsAreWaitedForAsInStrictMode() throws Exception {
        options = QueryOptions.pipelined();
        CompletableFuture<Void> offsets =
                inBackground(() -> write(files("offsets"), new Path(root, "offsets/0"), "offsets"));
        assertThatThrownBy(() -> offsets.get(50, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        released.countDown();
        offsets.get();
        assertThat(dir.resolve("ckpt/offsets/0")).hasContent("offsets");
    }

    @Test
    void inPipelinedModeABatchWhoseTasksHaveNotWaitedFailsTheQuery() throws Exception {
        options = QueryOptions.pipelined();
        publishedBefore("offsets/0");
        write(files("commits"), new Path(root, "commits/0"), "commit");
        write(files("offsets"), new Path(root, "offsets/1"), "offsets");
        assertThatThrownBy(() -> write(files("commits"), new Path(root, "commits/1"), "commit"))
                .hasMessageContaining("batch 1 has ended before")
                .hasMessageEndingWith(
                        "Set spark.afterbay.commit.mode=strict in the query's session");
        assertThatThrownBy(() -> write(files("offsets"), new Path(root, "offsets/2"), "offsets"))
                .hasMessageContaining("batch 1 has ended before");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatASourceLogsHasItsPlaceInTheOrder(boolean isPipelined) throws Exception {
        options = isPipelined ? QueryOptions.pipelined() : QueryOptions.strict();
        publishedBefore("offsets/0");
        write(files("commits"), new Path(root, "commits/0"), "commit");
        AfterbayCheckpointFileManager source = files("sources/0");
        write(source, new Path(root, "sources/0/1"), "files");
        write(source, new Path(root, "sources/0/2.compact"), "more files");
        assertThat(dir.resolve("ckpt/sources")).doesNotExist();
        assertThat(publisher().waiting().stream().map(w -> new Path(w.target()).getName()))
                .containsExactly("0", "1", "2.compact");
        assertThat(text(source, new Path(root, "sources/0/1"))).isEqualTo("files");
        assertThat(names(source.list(new Path(root, "sources/0"))))
                .containsExactly("1", "2.compact");
        released.countDown();
        publisher().awaitPublished();
        assertThat(dir.resolve("ckpt/sources/0/2.compact")).hasContent("more files");
    }

    @Test
    void inPipelinedModeOtherFilesOfSourcesDoNotWait() throws Exception {
        options = QueryOptions.pipelined();
        publishedBefore("offsets/0");
        write(files("commits"), new Path(root, "commits/0"), "commit");
        CompletableFuture<Void> source =
                inBackground(
                        () ->
                                new AfterbayCheckpointFileManager(
                                                new Path(root, "sources/0"),
                                                new FileSystemBasedCheckpointFileManager(
                                                        root, new Configuration(false)),
                                                checkpoints,
                                                options)
                                        .createAtomic(new Path(root, "sources/0/cursor"), false)
                                        .close());
        source.get();
        assertThat(dir.resolve("ckpt/sources/0/cursor")).exists();
        assertThat(dir.resolve("ckpt/commits/0")).doesNotExist();
    }

    private void publishedBefore(String name) throws IOException {
        java.nio.file.Path file = dir.resolve("ckpt").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "of a run before");
    }

    @Test
    void otherFilesOfSourcesAndDeletionsWaitForAllThatWasWrittenBefore() throws Exception {
        write(files("commits"), new Path(root, "commits/0"), "commit");
        Path offsets = new Path(root, "offsets/0");
        Files.createDirectory(dir.resolve("ckpt/offsets"));
        Files.writeString(dir.resolve("ckpt/offsets/0"), "offsets");
        CompletableFuture<Void> deletion = inBackground(() -> files("offsets").delete(offsets));
        CompletableFuture<Void> source =
                inBackground(
                        () -> {
                            write(files("sources/0"), new Path(root, "sources/0/cursor"), "files");
                            assertThat(dir.resolve("ckpt/commits/0")).exists();
                        });
        Thread.sleep(50); // time to go wrong
        assertThat(dir.resolve("ckpt/offsets/0")).exists();
        released.countDown();
        deletion.get();
        source.get();
        assertThat(dir.resolve("ckpt/offsets/0")).doesNotExist();
    }

    @Test
    void aCancelledFileIsNotPublished() throws Exception {
        released.countDown();
        CancellableFSDataOutputStream out =
                files("commits").createAtomic(new Path(root, "commits/0"), false);
        out.write(1);
        out.cancel();
        out.close();
        checkpoints.close();
        assertThat(dir.resolve("ckpt/commits/0")).doesNotExist();
    }

    /** Stopped while its offsets wait, and started again here: else batch 1 would run at once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aNewRunBeginsWhenAllOfTheLastOneIsPublished(boolean isPipelined) throws Exception {
        options = isPipelined ? QueryOptions.pipelined() : QueryOptions.strict();
        publishedBefore("offsets/0");
        write(files("commits"), new Path(root, "commits/0"), "commit");
        CompletableFuture<Void> stopped =
                inBackground(() -> write(files("offsets"), new Path(root, "offsets/1"), "offsets"));
        while (publisher().waiting().size() < 2) {
            Thread.sleep(10);
        }
        AfterbayCheckpointFileManager next = files("offsets");
        CompletableFuture<FileStatus[]> started =
                CompletableFuture.supplyAsync(() -> next.list(new Path(root, "offsets")));
        assertThatThrownBy(() -> started.get(100, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        released.countDown();
        assertThat(names(started.get())).containsExactlyInAnyOrder("0", "1");
        assertThat(dir.resolve("ckpt/offsets/1")).hasContent("offsets");
        stopped.get();
    }

    @Test
    void aLogFileIsNotReplaced() throws Exception {
        released.countDown();
        Files.createDirectory(dir.resolve("ckpt/offsets"));
        Files.writeString(dir.resolve("ckpt/offsets/0"), "of another query");
        AfterbayCheckpointFileManager offsets = files("offsets");
        assertThatThrownBy(() -> write(offsets, new Path(root, "offsets/0"), "ours"))
                .hasMessageContaining("a second query uses this checkpoint");
        assertThat(dir.resolve("ckpt/offsets/0")).hasContent("of another query");

        // The failed run goes on failing, and the next one starts with what is in the storage.
        assertThatThrownBy(() -> offsets.exists(new Path(root, "offsets/0")))
                .hasMessageContaining("offsets/0");
        assertThat(text(files("offsets"), new Path(root, "offsets/0")))
                .isEqualTo("of another query");
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

    private AfterbayCheckpointFileManager files(String directory) {
        Path path = new Path(root, directory);
        return new AfterbayCheckpointFileManager(path, new Held(path), checkpoints, options);
    }

    private static void write(AfterbayCheckpointFileManager files, Path path, String text)
            throws IOException {
        CancellableFSDataOutputStream out = files.createAtomic(path, false);
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.close();
    }

    private static String text(AfterbayCheckpointFileManager files, Path path) throws IOException {
        try (FSDataInputStream in = files.open(path)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static List<String> names(FileStatus[] files) {
        return Arrays.stream(files).map(f -> f.getPath().getName()).toList();
    }
}
