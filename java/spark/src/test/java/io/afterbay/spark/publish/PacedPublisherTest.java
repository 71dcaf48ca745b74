package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many bytes a publisher has handed to its storage at any time, by a clock of its own. */
class PacedPublisherTest {
    private static final long SECOND = 1_000_000_000;
    private static final int CHUNK = Bandwidth.CHUNK_BYTES;
    private static final int FILES = 6;
    private static final int CHUNKS = 5;

    @TempDir private Path dir;
    private final AtomicLong now = new AtomicLong();
    private final List<long[]> handedOver = new ArrayList<>();
    private Runnable afterPause = () -> {};
    private Publisher publisher;
    private long bytes;

    /** Of how many bytes it has when. */
    private final class Counting implements Storage {
        @Override
        public void write(String target, InputStream content, boolean overwrites)
                throws IOException {
            byte[] buffer = new byte[1 << 20];
            int read = content.read(buffer);
            while (read >= 0) {
                count(read);
                read = content.read(buffer);
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

    private synchronized void count(int read) {
        bytes += read;
        handedOver.add(new long[] {now.get(), bytes});
    }

    /** With several threads the clock goes faster than it should: each adds what it sleeps. */
    private void pause(long nanos) {
        now.addAndGet(nanos);
        afterPause.run();
    }

    private void publish(int threads, long bytesPerSecondMax) throws IOException {
        publish(threads, bytesPerSecondMax, 1_000_000 * SECOND);
    }

    private void publish(int threads, long bytesPerSecondMax, long hangNanosMax)
            throws IOException {
        PublishSettings settings =
                new PublishSettings(
                        threads,
                        100,
                        1 << 30,
                        1_000_000 * SECOND,
                        3,
                        hangNanosMax,
                        new Backoff(1, 1),
                        bytesPerSecondMax,
                        0);
        publisher =
                new Publisher(
                        "ckpt",
                        new Counting(),
                        settings,
                        settings.limits(),
                        PublishObserver.NONE,
                        new Publisher.Time(now::get, this::pause),
                        () -> 0);
        for (int file = 0; file < FILES; file++) {
            Path local = Files.createTempFile(dir, "copy", "");
            Files.write(local, new byte[CHUNKS * CHUNK]);
            publisher.submit(Kind.STATE, "state/" + file, local, true);
        }
        publisher.close();
        assertThat(bytes).isEqualTo((long) FILES * CHUNKS * CHUNK);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void handsOverNoMoreThanItsBandwidth(int threads) throws IOException {
        long perSecond = (long) threads * CHUNK;
        publish(threads, perSecond);
        for (long[] at : handedOver) {
            long allowed = perSecond * at[0] / SECOND + (long) threads * CHUNK;
            assertThat(at[1]).isLessThanOrEqualTo(allowed);
        }
    }

    @Test
    void usesAllOfIt() throws IOException {
        publish(1, CHUNK);
        assertThat(now.get()).isEqualTo((FILES * CHUNKS - 1) * SECOND);
    }

    /** Threads look after each other meanwhile, and find none that hangs. */
    @Test
    void aPauseIsNoSilence() throws IOException {
        afterPause = () -> publisher.wake();
        publish(1, CHUNK, SECOND / 2);
        assertThat(now.get()).isEqualTo((FILES * CHUNKS - 1) * SECOND);
        assertThat(publisher.metrics().restarts()).isZero();
    }

    /** The control. */
    @Test
    void withoutALimitNobodyPauses() throws IOException {
        publish(3, 0);
        assertThat(now.get()).isZero();
    }
}
