package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.afterbay.spark.publish.Backoff;
import io.afterbay.spark.publish.Gate;
import io.afterbay.spark.publish.Kind;
import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.spark.publish.Publisher;
import io.afterbay.spark.publish.Storage;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the queries of a process have in common. */
class CheckpointsTest {
    private static final int BYTES = 1_000;
    private static final long SECOND = 1_000_000_000;

    /**
     * So many that a slow machine is not taken for a process that waits for one after the other.
     */
    private static final int MANY = 100;

    @TempDir private Path dir;
    private final MetricRegistry registry = new MetricRegistry();
    private Checkpoints checkpoints;

    /** Takes everything, but for the first time. */
    private static final class FailsOnce implements Storage {
        private boolean hasFailed;

        @Override
        public synchronized void write(String target, InputStream content, boolean overwrites)
                throws IOException {
            content.transferTo(OutputStream.nullOutputStream());
            if (!hasFailed) {
                hasFailed = true;
                throw new IOException("disk on fire");
            }
        }

        @Override
        public boolean exists(String target) {
            return false;
        }

        @Override
        public boolean isSame(String target, Path local) {
            return false;
        }
    }

    @BeforeEach
    void create() throws IOException {
        Path locals = Files.createDirectory(dir.resolve("locals"));
        checkpoints = new Checkpoints(PublishSettings.defaults(), locals, new Peers());
        CommitMetrics.register(registry, checkpoints);
    }

    private void publish(String root) throws IOException {
        Publisher publisher = checkpoints.get(root, new FailsOnce()).publisher();
        Path local = Files.write(Files.createTempFile(dir, "copy", ""), new byte[BYTES]);
        publisher.submit(Kind.STATE, root + "/state", local, true);
        publisher.awaitPublished();
    }

    /** The same path, and nothing else in common. */
    @Test
    void twoFileSystemsAreTwoCheckpoints() throws IOException {
        String here = location("s3a://one/ckpt");
        String there = location("s3a://other/ckpt");
        Publisher one = checkpoints.get(here, new FailsOnce()).publisher();
        Publisher other = checkpoints.get(there, new FailsOnce()).publisher();
        assertThat(other).isNotSameAs(one);
        Path local = Files.write(Files.createTempFile(dir, "copy", ""), new byte[BYTES]);
        one.submit(Kind.LOG, "/ckpt/offsets/0", local, false);
        assertThat(other.find("/ckpt/offsets/0")).isNull();
        Gate lost =
                () -> {
                    throw new IOException("nobody has its state");
                };
        Path behind = Files.write(Files.createTempFile(dir, "copy", ""), new byte[BYTES]);
        one.submit(Kind.LOG, "/ckpt/commits/0", behind, false, lost);
        assertThatThrownBy(one::awaitPublished).hasMessageContaining("nobody has its state");
        assertThat(one.hasFailed()).isTrue();
        assertThat(other.hasFailed()).isFalse();
        assertThat(checkpoints.get(there, new FailsOnce()).root()).isEqualTo("/ckpt");
    }

    /** The time is that of the process: after it, local directories are deleted. */
    @Test
    void theEndWaitsForAllCheckpointsTogether() throws IOException {
        checkpoints =
                new Checkpoints(
                        new PublishSettings(
                                1, MANY, 1 << 20, SECOND, 8, 60 * SECOND, new Backoff(1, 1), 0, 0),
                        Files.createDirectory(dir.resolve("others")),
                        new Peers());
        for (int i = 0; i < MANY; i++) {
            String root = "/" + i;
            Path local = Files.write(Files.createTempFile(dir, "copy", ""), new byte[BYTES]);
            checkpoints
                    .get(root, new FailsOnce())
                    .publisher()
                    .submit(Kind.LOG, root + "/offsets/0", local, false, () -> false);
        }
        long begin = System.nanoTime();
        checkpoints.close();
        assertThat(System.nanoTime() - begin).isBetween(SECOND, MANY * SECOND / 2);
    }

    /** The storage does not take what waits, in the time that there is. */
    @Test
    void whatIsNotPublishedWhenAQueryEndsNeverIs() throws IOException {
        checkpoints =
                new Checkpoints(
                        new PublishSettings(
                                1, MANY, 1 << 20, 1, 8, 60 * SECOND, new Backoff(1, 1), 0, 0),
                        Files.createDirectory(dir.resolve("others")),
                        new Peers());
        Checkpoint ended = checkpoints.get("/ckpt", new FailsOnce());
        Path local = Files.write(Files.createTempFile(dir, "copy", ""), new byte[BYTES]);
        AtomicBoolean isOpen = new AtomicBoolean();
        ended.publisher().submit(Kind.LOG, "/ckpt/offsets/0", local, false, isOpen::get);
        assertThat(checkpoints.busy()).containsExactly("/ckpt");
        assertThatThrownBy(() -> checkpoints.end(ended))
                .hasMessageContaining("checkpoint /ckpt: /ckpt/offsets/0: it was not published");
        assertThat(checkpoints.busy()).isEmpty();
        assertThat(ended.locals()).doesNotExist();
        isOpen.set(true);
        assertThatThrownBy(() -> ended.publisher().awaitPublished())
                .hasMessageContaining("its publisher is closed; start the query again");
        assertThat(checkpoints.get("/ckpt", new FailsOnce())).isNotSameAs(ended);
    }

    /** Queries that run when the application ends fail after all was published, and end then. */
    @Test
    void theEndOfTheApplicationIsNoFailureOfItsQueries() throws IOException {
        publish("/ckpt");
        Checkpoint running = checkpoints.get("/ckpt", new FailsOnce());
        checkpoints.close();
        checkpoints.end(running);
    }

    @Test
    void aQueryThatHasEndedFindsItsCheckpointAgain() throws Exception {
        publish("/ckpt");
        Checkpoint ended = checkpoints.get("/ckpt", new FailsOnce());
        checkpoints.end(ended);
        assertThatThrownBy(() -> publish("/ckpt"))
                .hasMessageContaining("after the end of its query");
        ended.publisher().resume();
        publish("/ckpt");
        assertThat(checkpoints.get("/ckpt", new FailsOnce())).isSameAs(ended);
    }

    private static String location(String checkpoint) {
        var offsets = new org.apache.hadoop.fs.Path(checkpoint + "/offsets");
        return Objects.requireNonNull(CheckpointFiles.location(offsets));
    }

    private Object metric(String name) {
        return ((Gauge<?>) registry.getMetrics().get(name)).getValue();
    }

    /** One limit for all: it counts what each of them uploads, and what failed, too. */
    @Test
    void theBandwidthIsThatOfAllQueries() throws IOException {
        publish("/a");
        publish("/b");
        assertThat(metric("publishedBytes")).isEqualTo(2L * BYTES);
        assertThat(metric("publishFailures")).isEqualTo(2L);
        assertThat(metric("uploadedBytes")).isEqualTo(4L * BYTES);
        assertThat(metric("uploadPauseMillis")).isEqualTo(0L);
        checkpoints.close();
        assertThat(metric("uploadedBytes")).isEqualTo(4L * BYTES);
    }
}
