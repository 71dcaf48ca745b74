package io.afterbay.spark.publish;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A publisher on a storage that fails as it is told, and on a clock that stands. */
abstract class PublisherFixture {
    static final long PAUSE = 1_000;
    static final long HANG = 1_000_000;
    static final long WAIT = 1_000_000_000;

    @TempDir Path dir;
    final AtomicLong now = new AtomicLong();
    final FaultyStorage storage = new FaultyStorage();
    final CountDownLatch released = new CountDownLatch(1);
    Publisher publisher = publisher(3);

    final Publisher publisher(int entriesMax) {
        Backoff backoff = new Backoff(PAUSE, PAUSE);
        PublishSettings settings =
                new PublishSettings(2, entriesMax, 1_000, WAIT, 3, HANG, backoff, 0, 0);
        return publisher(settings, settings.limits());
    }

    final Publisher publisher(PublishSettings settings, ProcessLimits limits) {
        Publisher.Time time = new Publisher.Time(now::get, LockSupport::parkNanos);
        return new Publisher(
                "ckpt", storage, settings, limits, PublishObserver.NONE, time, () -> 0);
    }

    @AfterEach
    void end() {
        released.countDown();
        publisher.abandon();
    }

    final long submit(Kind kind, String target, Gate gate) throws IOException {
        Path local = Files.createTempFile(dir, "copy", "");
        Files.writeString(local, target);
        return publisher.submit(kind, target, local, false, gate);
    }

    final long submit(Kind kind, String target) throws IOException {
        return submit(kind, target, target, kind == Kind.STATE);
    }

    final long submit(Kind kind, String target, String content, boolean overwrites)
            throws IOException {
        return submit(publisher, kind, target, content, overwrites);
    }

    final long submit(Publisher to, Kind kind, String target, String content, boolean overwrites)
            throws IOException {
        Path local = Files.createTempFile(dir, "copy", "");
        Files.writeString(local, content);
        return to.submit(kind, target, local, overwrites);
    }

    final void pass(long nanos) {
        now.addAndGet(nanos);
        publisher.wake();
    }

    final void awaitFailures(long count) throws InterruptedException {
        while (publisher.metrics().failures() < count) {
            Thread.sleep(1);
        }
    }

    final void awaitAttempts(String target, int count) throws InterruptedException {
        while (storage.attempts(target) < count) {
            Thread.sleep(1);
        }
    }

    final void awaitWritten(String target) throws InterruptedException {
        while (!storage.order().contains(target)) {
            Thread.sleep(1);
        }
    }
}
