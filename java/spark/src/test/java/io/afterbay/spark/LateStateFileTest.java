package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.publish.Backoff;
import io.afterbay.spark.publish.PublishSettings;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A state file is written twice, on a file system that deletes what a renaming replaces before it
 * renames, as Hadoop's do that are no HDFS: a crash between the two would leave none.
 */
class LateStateFileTest {
    private static final String SCHEME = "delegated";
    private static final String CHANGELOG = "1_9f3c1c52-0c0e-4a55-8a4e-0d7f5a1f2b3c.changelog";
    private static final long SECOND = 1_000_000_000;

    /** Threads that hang are replaced, and no write is begun a second time otherwise. */
    private static final PublishSettings SETTINGS =
            new PublishSettings(
                    1, 9, 1 << 20, 30 * SECOND, 100, SECOND / 5, new Backoff(1, 1), 0, 0);

    @TempDir java.nio.file.Path dir;
    private Path root;
    private Checkpoints process;

    /** What Spark uses where a file system has a Hadoop {@code FileSystem} only. */
    static final class Delegated extends DelegateToFileSystem {
        Delegated(URI uri, Configuration settings) throws IOException, URISyntaxException {
            super(uri, new Renaming(), settings, SCHEME, false);
        }
    }

    /** Its first renaming is late, or its answer is lost. */
    private static final class Renaming extends RawLocalFileSystem {
        static final AtomicInteger renamings = new AtomicInteger();
        static final AtomicInteger deletions = new AtomicInteger();
        static volatile CountDownLatch late = new CountDownLatch(0);
        static volatile boolean isAnswerLost;

        @Override
        public String getScheme() {
            return SCHEME;
        }

        @Override
        public URI getUri() {
            return URI.create(SCHEME + ":///");
        }

        @Override
        public boolean rename(Path from, Path to) throws IOException {
            boolean isRenamed = super.rename(from, to);
            if (renamings.getAndIncrement() == 0 && isAnswerLost) {
                throw new IOException("renamed " + from + ", and the answer is lost");
            }
            return isRenamed;
        }

        @Override
        public boolean delete(Path path, boolean recursively) throws IOException {
            if (path.getName().equals(CHANGELOG)) {
                deletions.incrementAndGet();
            }
            return super.delete(path, recursively);
        }
    }

    /** Before the file system looks whether the target is there. */
    private static final class Late extends FileContextBasedCheckpointFileManager {
        private final AtomicInteger renamings = new AtomicInteger();

        Late(Path path, Configuration settings) {
            super(path, settings);
        }

        @Override
        public void renameTempFile(Path from, Path to, boolean overwrites) {
            if (renamings.getAndIncrement() == 0) {
                awaitLate();
            }
            super.renameTempFile(from, to, overwrites);
        }

        private static void awaitLate() {
            boolean isOver = false;
            while (!isOver) {
                try {
                    Renaming.late.await();
                    isOver = true;
                } catch (InterruptedException e) {
                    // It hangs.
                }
            }
        }
    }

    @BeforeEach
    void create() throws IOException {
        Files.createDirectory(dir.resolve("ckpt"));
        root = new Path(SCHEME + "://" + dir.resolve("ckpt"));
        java.nio.file.Path locals = Files.createDirectory(dir.resolve("locals"));
        process = new Checkpoints(SETTINGS, locals, new Peers());
        Renaming.renamings.set(0);
        Renaming.deletions.set(0);
        Renaming.isAnswerLost = false;
    }

    @AfterEach
    void end() throws InterruptedException {
        Renaming.late.countDown();
        process.abandon();
        PublisherThreads.awaitEnd(dir);
    }

    private static Configuration settings() {
        Configuration settings = new Configuration(false);
        settings.set("fs.AbstractFileSystem." + SCHEME + ".impl", Delegated.class.getName());
        return settings;
    }

    @Test
    void aSecondAttemptDeletesNothing() throws Exception {
        Renaming.isAnswerLost = true;
        write(new FileContextBasedCheckpointFileManager(root, settings()));
        awaitPublished();
        process.abandon();
        PublisherThreads.awaitEnd(dir);
        assertThat(Renaming.deletions).hasValue(0);
        assertThat(filesOfState()).containsExactly(CHANGELOG);
    }

    @Test
    void aLateWriteDeletesNothing() throws Exception {
        Renaming.late = new CountDownLatch(1);
        write(new Late(root, settings()));
        awaitPublished();
        Renaming.late.countDown();
        process.abandon();
        PublisherThreads.awaitEnd(dir);
        assertThat(Renaming.deletions).hasValue(0);
        assertThat(dir.resolve("ckpt/state/0/1/" + CHANGELOG)).hasContent("state");
    }

    private void write(FileContextBasedCheckpointFileManager files) throws IOException {
        AfterbayCheckpointFileManager ours =
                new AfterbayCheckpointFileManager(
                        new Path(root, "state/0/1"), files, process, QueryOptions.strict());
        ours.mkdirs(new Path(root, "state/0/1"));
        CancellableFSDataOutputStream out =
                ours.createAtomic(new Path(root, "state/0/1/" + CHANGELOG), true);
        out.write("state".getBytes(StandardCharsets.UTF_8));
        out.close();
    }

    private void awaitPublished() throws InterruptedException {
        while (process.metrics().get(0).files() == 0) {
            Thread.sleep(10);
        }
    }

    private List<String> filesOfState() throws IOException {
        try (Stream<java.nio.file.Path> files = Files.list(dir.resolve("ckpt/state/0/1"))) {
            return files.map(f -> f.getFileName().toString()).toList();
        }
    }
}
