package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two queries of a process, one with four threads that write and one with a single thread. Their
 * clock stands still while anybody works, so that what is counted is exact.
 */
class SharedBandwidthTest {
    private static final long SECOND = 1_000_000_000;
    private static final int CHUNK = Bandwidth.CHUNK_BYTES;
    private static final int THREADS = 4;
    private static final int WRITES = THREADS + 1;
    private static final int CHUNKS = 20;
    private static final long RATE = (long) THREADS * CHUNK;

    /** What a query had written in all at a time. */
    private record Count(String query, long atNanos, long ofQuery, long ofAll) {}

    @TempDir private Path dir;
    private final StoppedClock clock = new StoppedClock(WRITES);
    private final CountDownLatch begun = new CountDownLatch(WRITES);
    private final List<Count> counts = new ArrayList<>();

    /** Goes to the next end of a pause when all threads pause. */
    private static final class StoppedClock {
        private final TreeMap<Long, Integer> ends = new TreeMap<>();
        private int working;
        private long now;

        StoppedClock(int working) {
            this.working = working;
        }

        synchronized long nanos() {
            return now;
        }

        synchronized void pause(long nanos) {
            long end = now + nanos;
            ends.merge(end, 1, Integer::sum);
            working--;
            goOn();
            while (now < end) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e); // nobody is given up here
                }
            }
        }

        synchronized void ended() {
            working--;
            goOn();
        }

        private void goOn() {
            if (working == 0 && !ends.isEmpty()) {
                now = ends.firstKey();
                working = ends.remove(now);
                notifyAll();
            }
        }
    }

    /** All writes begin at once. */
    private record Counting(SharedBandwidthTest test, String query) implements Storage {
        @Override
        public void write(String target, InputStream content, boolean overwrites)
                throws IOException {
            test.begun.countDown();
            try {
                test.begun.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            byte[] buffer = new byte[CHUNK];
            for (int read = content.read(buffer); read > 0; read = content.read(buffer)) {
                test.count(query, read);
            }
            test.clock.ended();
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

    private synchronized void count(String query, int read) {
        long ofQuery = written(query) + read;
        counts.add(new Count(query, clock.nanos(), ofQuery, ofAll() + read));
    }

    private long written(String query) {
        return counts.stream()
                .filter(count -> count.query.equals(query))
                .mapToLong(Count::ofQuery)
                .max()
                .orElse(0);
    }

    private long ofAll() {
        return counts.isEmpty() ? 0 : counts.get(counts.size() - 1).ofAll;
    }

    private static PublishSettings settings() {
        return new PublishSettings(
                THREADS,
                100,
                1 << 30,
                1_000_000 * SECOND,
                3,
                1_000_000 * SECOND,
                new Backoff(1, 1),
                RATE,
                0);
    }

    private Publisher publisher(String query, ProcessLimits limits) {
        return new Publisher(
                query,
                new Counting(this, query),
                settings(),
                limits,
                PublishObserver.NONE,
                new Publisher.Time(clock::nanos, clock::pause),
                () -> 0);
    }

    private void publish(ProcessLimits ofMany, ProcessLimits ofOne) throws IOException {
        Publisher many = publisher("many", ofMany);
        Publisher one = publisher("one", ofOne);
        for (int file = 0; file < THREADS; file++) {
            submit(many, file);
        }
        submit(one, 0);
        many.close();
        one.close();
        assertThat(ofAll()).isEqualTo((long) WRITES * CHUNKS * CHUNK);
    }

    private void submit(Publisher publisher, int file) throws IOException {
        Path local = Files.createTempFile(dir, "copy", "");
        Files.write(local, new byte[CHUNKS * CHUNK]);
        publisher.submit(Kind.STATE, "state/" + file, local, true);
    }

    private boolean isBounded() {
        return counts.stream()
                .allMatch(count -> count.ofAll <= RATE * count.atNanos / SECOND + CHUNK);
    }

    @Test
    void bothTogetherUploadNoMoreThanTheProcessMay() throws IOException {
        ProcessLimits limits = settings().limits();
        publish(limits, limits);
        assertThat(isBounded()).isTrue();
        assertThat(clock.nanos()).isEqualTo((WRITES * CHUNKS - 1) * SECOND / THREADS);
        assertThat(limits.bandwidth().bytes()).isEqualTo(ofAll());
        assertThat(limits.bandwidth().pausedNanos()).isPositive();
    }

    /** While both write: the one with four threads gets no more of them than the other. */
    @Test
    void bothHaveHalfOfIt() throws IOException {
        ProcessLimits limits = settings().limits();
        publish(limits, limits);
        long end = (long) CHUNKS * CHUNK;
        long ofMany =
                counts.stream()
                        .takeWhile(count -> !count.query.equals("one") || count.ofQuery < end)
                        .filter(count -> count.query.equals("many"))
                        .mapToLong(Count::ofQuery)
                        .max()
                        .orElseThrow();
        assertThat(ofMany).isBetween(end - CHUNK, end + CHUNK);
    }

    /** The control: with limits of its own, each of them may upload as much as both. */
    @Test
    void withLimitsOfTheirOwnTheyUploadMore() throws IOException {
        publish(settings().limits(), settings().limits());
        assertThat(isBounded()).isFalse();
    }
}
