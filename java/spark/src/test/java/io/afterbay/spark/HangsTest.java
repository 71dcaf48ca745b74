package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.publish.Backoff;
import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.spark.publish.StateLedger;
import io.afterbay.spark.publish.WrittenStates;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All threads of a publisher hang, and nobody in its process waits for it. */
class HangsTest {
    private static final String CHANGELOG =
            "state/0/1/1_9f3c1c52-0c0e-4a55-8a4e-0d7f5a1f2b3c.changelog";
    private static final long SECOND = 1_000_000_000;
    private static final int THREADS = 3;

    /** Nobody begins a write a second time but those who look after the threads. */
    private static final PublishSettings SETTINGS =
            new PublishSettings(
                    THREADS,
                    9,
                    1 << 20,
                    Await.DEADLINE.toNanos(),
                    100,
                    SECOND,
                    new Backoff(1, 1),
                    0,
                    0);

    @TempDir java.nio.file.Path dir;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicInteger hangsLeft = new AtomicInteger();
    private Path root;
    private Checkpoints process;

    private final class Hanging extends FileSystemBasedCheckpointFileManager {
        Hanging(Path path) {
            super(path, new Configuration(false));
        }

        @Override
        public FSDataOutputStream createTempFile(Path path) {
            if (hangsLeft.getAndDecrement() > 0) {
                try {
                    ended.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return super.createTempFile(path);
        }
    }

    @BeforeEach
    void create() throws IOException {
        root = new Path(Files.createDirectory(dir.resolve("ckpt")).toUri());
    }

    @AfterEach
    void end() throws InterruptedException {
        ended.countDown();
        process.abandon();
        PublisherThreads.awaitEnd(dir);
    }

    private void startWith(Peers peers) throws IOException {
        process = new Checkpoints(SETTINGS, Files.createDirectory(dir.resolve("locals")), peers);
    }

    @Test
    void onAnExecutorWhoseTasksHaveGoneOn() throws Exception {
        WrittenStates states = new WrittenStates("executor 1");
        startWith(new ExecutorPeers(states, question -> true, SECOND));
        hangsLeft.set(THREADS);
        for (int i = 0; i < THREADS; i++) {
            write("state/0/1", CHANGELOG.replace("9f", "8" + i));
        }
        for (int i = 0; i < THREADS; i++) {
            awaitPublished(CHANGELOG.replace("9f", "8" + i));
        }
    }

    @Test
    void onADriverWhoseTasksAskFromElsewhere() throws Exception {
        startWith(new DriverPeers(new StateLedger(Await.DEADLINE.toNanos())));
        write("offsets", "offsets/0");
        hangsLeft.set(1);
        write("commits", "commits/0");
        awaitPublished("commits/0");
    }

    private void write(String directory, String name) throws IOException {
        Path path = new Path(root, directory);
        AfterbayCheckpointFileManager files =
                new AfterbayCheckpointFileManager(
                        path, new Hanging(path), process, QueryOptions.pipelined());
        CancellableFSDataOutputStream out = files.createAtomic(new Path(root, name), false);
        out.write("v2\n{}".getBytes(StandardCharsets.UTF_8));
        out.close();
    }

    /** Looks at the files only. */
    private void awaitPublished(String name) throws InterruptedException {
        while (!Files.exists(dir.resolve("ckpt").resolve(name))) {
            Thread.sleep(10);
        }
        assertThat(hangsLeft.get()).isNotPositive();
    }
}
