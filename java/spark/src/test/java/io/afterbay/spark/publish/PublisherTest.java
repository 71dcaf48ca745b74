package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** In which order files are published, who waits for whom, and for how long. */
class PublisherTest extends PublisherFixture {
    private static final PublishSettings SHARING =
            new PublishSettings(2, 9, 1_000, WAIT, 3, 10 * WAIT, new Backoff(PAUSE, PAUSE), 0, 0);

    @Test
    void publishesALogFileOnlyWhenAllBeforeItIs() throws Exception {
        storage.beforeWrites("state/a", FaultyStorage.waitsFor(released));
        submit(Kind.STATE, "state/a");
        submit(Kind.LOG, "commits/0");
        submit(Kind.STATE, "state/b"); // of the next batch, and nobody's before commits/1
        awaitWritten("state/b");
        assertThat(storage.attempts("commits/0")).isZero();

        released.countDown();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("state/b", "state/a", "commits/0");
    }

    @Test
    void aLogFileWaitsForItsGateAndStateDoesNot() throws Exception {
        AtomicBoolean isOpen = new AtomicBoolean();
        submit(Kind.LOG, "commits/0", isOpen::get);
        submit(Kind.STATE, "state/b");
        submit(Kind.LOG, "offsets/1");
        awaitWritten("state/b");
        assertThat(storage.attempts("commits/0")).isZero();
        isOpen.set(true);
        publisher.wake();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("state/b", "commits/0", "offsets/1");
    }

    @Test
    void knowsWhichLogFilesAreInTheStorage() throws Exception {
        storage.beforeWrites("offsets/1", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        submit(Kind.LOG, "offsets/1");
        publisher.awaitPublished("commits/0"); // those behind it may wait
        assertThat(publisher.isPublished("commits/0")).isTrue();
        assertThat(publisher.isPublished("offsets/1")).isFalse();
        CompletableFuture<Void> waiter =
                CompletableFuture.runAsync(
                        () -> {
                            try {
                                publisher.awaitPublished("offsets/1");
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        Thread.sleep(20); // time to go wrong
        assertThat(waiter.isDone()).isFalse();
        released.countDown();
        waiter.get();
        assertThat(storage.order()).containsExactly("commits/0", "offsets/1");
    }

    @Test
    void asksTheStorageForLogFilesOfRunsBefore() throws Exception {
        storage.write("offsets/7", new ByteArrayInputStream(new byte[1]), false);
        publisher.awaitPublished("offsets/7");
        assertThatThrownBy(() -> publisher.awaitPublished("offsets/8"))
                .hasMessageContaining("no run of the query has written offsets/8");
        publisher.fail("the disk is full");
        assertThatThrownBy(() -> publisher.isPublished("offsets/7"))
                .hasMessageContaining("the disk is full");
    }

    @Test
    void failsLoudlyWhenAGateNeverOpens() throws Exception {
        storage.beforeWrites("offsets/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "offsets/0");
        submit(
                Kind.LOG,
                "commits/0",
                () -> {
                    throw new IOException("executor 3 is gone");
                });
        assertThat(publisher.hasFailed()).isFalse(); // only the front's gate is asked
        released.countDown();
        assertThatThrownBy(() -> publisher.awaitPublished())
                .isInstanceOf(PublishException.class)
                .hasMessageContaining("cannot publish commits/0: executor 3 is gone")
                .hasMessageContaining("restart the query");
        assertThat(storage.order()).containsExactly("offsets/0");
    }

    @Test
    void nobodyWaitsForAGateForEver() throws Exception {
        long ticket = submit(Kind.LOG, "commits/0", () -> false);
        CompletableFuture<Void> waiter = inBackground(ticket);
        while (!waiter.isDone()) { // it may begin to wait after any of these
            pass(WAIT + 1);
            Thread.sleep(1);
        }
        assertThatThrownBy(waiter::get)
                .hasMessageContaining("commits/0: it was not published (it waits for nothing)");
    }

    @Test
    void whoHasWaitedForTooLongHearsThatPublishingGoesOn() throws Exception {
        submit(Kind.LOG, "commits/0", () -> false);
        assertThatThrownBy(() -> publisher.close(0))
                .hasMessageContaining("commits/0: it was not published")
                .hasMessageContaining("within 0 ms. 1 files wait, and are published when")
                .hasMessageNotContaining("given up");
    }

    @Test
    void failsForAReasonOutside() throws Exception {
        submit(Kind.LOG, "commits/0", () -> false);
        publisher.fail("executor 1 cannot write");
        assertThatThrownBy(() -> publisher.awaitPublished())
                .hasMessageContaining("commits/0: executor 1 cannot write");
    }

    @Test
    void tellsWhatIsPublishedAndWhyNothingFollows() throws Exception {
        publisher.abandon();
        List<String> heard = new CopyOnWriteArrayList<>();
        PublishSettings settings =
                new PublishSettings(2, 9, 1_000, WAIT, 1, HANG, new Backoff(1, 1), 0, 0);
        publisher =
                new Publisher(
                        "ckpt",
                        storage,
                        settings,
                        settings.limits(),
                        new PublishObserver() {
                            @Override
                            public void published(String target) {
                                heard.add(target);
                            }

                            @Override
                            public void failed(String reason) {
                                heard.add(reason);
                            }
                        });
        submit(Kind.STATE, "state/a");
        publisher.awaitPublished();
        storage.beforeWrites("state/b", FaultyStorage.fails());
        submit(Kind.STATE, "state/b");
        assertThatThrownBy(() -> publisher.awaitPublished()).hasMessageContaining("state/b");
        assertThat(heard).hasSize(2).startsWith("state/a");
        assertThat(heard.get(1)).contains("cannot publish state/b", "disk on fire");
    }

    @Test
    void servesLocalCopiesUntilTheyArePublishedAndRemovesThem() throws Exception {
        storage.beforeWrites("state/a", FaultyStorage.waitsFor(released));
        submit(Kind.STATE, "state/a");
        Path local = publisher.find("state/a");
        assertThat(local).hasContent("state/a");
        assertThat(publisher.waiting()).containsExactly(new Publisher.Waiting("state/a", local));

        released.countDown();
        publisher.awaitPublished();
        assertThat(publisher.find("state/a")).isNull();
        assertThat(publisher.waiting()).isEmpty();
        assertThat(local).doesNotExist();
        assertThat(storage.text("state/a")).isEqualTo("state/a");
    }

    @Test
    void writesVersionsOfOneNameInTheirOrder() throws Exception {
        storage.beforeWrites("state/a", FaultyStorage.waitsFor(released));
        submit(Kind.STATE, "state/a", "first", true);
        submit(Kind.STATE, "state/a", "second", true);
        assertThat(publisher.find("state/a")).hasContent("second");
        released.countDown();
        publisher.awaitPublished();
        assertThat(storage.text("state/a")).isEqualTo("second");
    }

    @Test
    void aCallerWaitsForRoomAndNotForEver() throws Exception {
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        for (String target : new String[] {"commits/0", "offsets/1", "commits/1"}) {
            submit(Kind.LOG, target);
        }
        Future<Long> fourth = inBackground("offsets/2");
        pass(WAIT + 1);
        assertThatThrownBy(fourth::get)
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("offsets/2")
                .hasMessageContaining("no room for it within 1000 ms");
        assertThat(publisher.metrics().waitingFilesMost()).isEqualTo(3);
    }

    @Test
    void aCallerGoesOnWhenThereIsRoom() throws Exception {
        publisher.abandon();
        publisher = publisher(1);
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        Future<Long> second = inBackground("offsets/1");
        assertThat(second.isDone()).isFalse();
        released.countDown();
        second.get();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("commits/0", "offsets/1");
        assertThat(publisher.metrics().waitingFilesMost()).isEqualTo(1);
    }

    @Test
    void bytesAreBoundedButOneLargeFilePasses() throws Exception {
        storage.beforeWrites("state/large", FaultyStorage.waitsFor(released));
        submit(Kind.STATE, "state/large", "x".repeat(5_000), true);
        Future<Long> second = inBackground("state/b");
        pass(WAIT + 1);
        assertThatThrownBy(second::get).hasMessageContaining("no room");
        released.countDown();
    }

    @Test
    void publishersThatShareTheirRoomWaitForEachOther() throws Exception {
        ProcessLimits limits = new ProcessLimits(new Room(1, 1_000), new Bandwidth(0));
        publisher.abandon();
        Publisher other = publisher(SHARING, limits);
        publisher = publisher(SHARING, limits);
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(other, Kind.LOG, "commits/0", "commits/0", false);
        Future<Long> second = inBackground("state/a");
        assertThat(second.isDone()).isFalse();
        released.countDown();
        second.get();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("commits/0", "state/a");
        other.close();
    }

    @Test
    void aPublisherThatIsGivenUpOrFailsLeavesItsRoomToOthers() throws Exception {
        ProcessLimits limits = new ProcessLimits(new Room(1, 1_000), new Bandwidth(0));
        publisher.abandon();
        publisher = publisher(SHARING, limits);
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        publisher.abandon();
        publisher = publisher(SHARING, limits);
        submit(Kind.LOG, "commits/1", () -> false);
        publisher.fail("executor 1 cannot write");
        publisher.abandon(); // and not a second time
        publisher = publisher(SHARING, limits);
        submit(Kind.LOG, "commits/2", () -> false);
        Future<Long> second = inBackground("state/a");
        pass(WAIT + 1);
        assertThatThrownBy(second::get).hasMessageContaining("no room");
    }

    @Test
    void aPublishedFileIsWaitedForOnlySoLong() throws Exception {
        FaultyStorage.Fault held = FaultyStorage.waitsFor(released);
        storage.beforeWrites("commits/0", held, held, held); // all attempts: time passes often
        long ticket = submit(Kind.LOG, "commits/0");
        CompletableFuture<Void> waiter = inBackground(ticket);
        while (!waiter.isDone()) { // it may begin to wait after any of these
            pass(WAIT + 1);
            Thread.sleep(1);
        }
        assertThatThrownBy(waiter::get).hasMessageContaining("commits/0");
    }

    @Test
    void closePublishesWhatWaits() throws Exception {
        for (int i = 0; i < 20; i++) {
            submit(Kind.STATE, "state/" + i);
        }
        submit(Kind.LOG, "commits/0");
        publisher.close();
        assertThat(storage.order()).hasSize(21).last().isEqualTo("commits/0");
        assertThatThrownBy(() -> submit(Kind.STATE, "late")).hasMessageContaining("closed");
    }

    @Test
    void abandonedPublishesNothingMore() throws Exception {
        storage.beforeWrites("state/a", FaultyStorage.waitsFor(released));
        submit(Kind.STATE, "state/a");
        submit(Kind.LOG, "commits/0");
        awaitAttempts("state/a", 1);
        publisher.abandon();
        released.countDown();
        assertThatThrownBy(() -> publisher.awaitPublished()).hasMessageContaining("closed");
        assertThat(storage.attempts("commits/0")).isZero();
    }

    private CompletableFuture<Void> inBackground(long ticket) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        publisher.awaitPublished(ticket);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
    }

    private Future<Long> inBackground(String target) throws InterruptedException {
        AtomicLong began = new AtomicLong();
        Thread[] thread = new Thread[1];
        CompletableFuture<Long> result =
                CompletableFuture.supplyAsync(
                        () -> {
                            thread[0] = Thread.currentThread();
                            began.set(1);
                            try {
                                return submit(Kind.STATE, target);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        while (began.get() == 0 || !isWaiting(thread[0])) {
            Thread.sleep(1);
        }
        return result;
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING;
    }
}
