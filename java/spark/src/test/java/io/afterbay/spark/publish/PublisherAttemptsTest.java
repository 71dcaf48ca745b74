package io.afterbay.spark.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.io.ByteArrayInputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Attempts that fail, hang, or find a file there, and the threads that make them. */
class PublisherAttemptsTest extends PublisherFixture {
    private static final long UNUSUAL = 20_000_000; // the least, if nothing takes any time
    private static final int HEDGING = 10;

    /** For its clock, no time passes, so that they would not end by themselves. */
    @Test
    void whileItRestsItTakesNoStateAndHasNoThreads() throws Exception {
        submit(Kind.STATE, "state/a");
        publisher.rest();
        Await.until("its threads end", () -> threads() == 0);
        assertThatThrownBy(() -> submit(Kind.STATE, "state/late"))
                .hasMessage(
                        "checkpoint ckpt: state/late comes after the end of its query, from a task"
                                + " that was killed. It is not written, and nothing is lost: no"
                                + " commit names it");
        submit(Kind.LOG, "sources/0/0");
        publisher.awaitPublished();
        Await.until("its threads end", () -> threads() == 0);
        publisher.resume();
        submit(Kind.STATE, "state/b");
        publisher.awaitPublished();
        assertThat(threads()).isPositive();
        assertThat(storage.order()).containsExactly("state/a", "sources/0/0", "state/b");
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().matches("afterbay-publisher-\\d+ ckpt"))
                .count();
    }

    @Test
    void triesAgainAfterAPause() throws Exception {
        storage.beforeWrites("commits/0", FaultyStorage.fails(), FaultyStorage.fails());
        submit(Kind.LOG, "commits/0");
        awaitFailures(1);
        assertThat(storage.attempts("commits/0")).isEqualTo(1);
        pass(PAUSE);
        awaitFailures(2);
        pass(PAUSE);
        publisher.awaitPublished();
        assertThat(storage.attempts("commits/0")).isEqualTo(3);
        assertThat(publisher.metrics().failures()).isEqualTo(2);
    }

    @Test
    void failsLoudlyWhenAttemptsAreSpentAndPublishesNothingBehind() throws Exception {
        storage.beforeWrites(
                "commits/0", FaultyStorage.fails(), FaultyStorage.fails(), FaultyStorage.fails());
        submit(Kind.LOG, "commits/0");
        submit(Kind.LOG, "offsets/1");
        for (int failures = 1; failures < 3; failures++) {
            awaitFailures(failures);
            pass(PAUSE);
        }
        assertThatThrownBy(() -> publisher.awaitPublished())
                .isInstanceOf(PublishException.class)
                .hasMessageContaining("checkpoint ckpt: cannot publish commits/0: 3 attempts")
                .hasMessageContaining("disk on fire")
                .hasMessageContaining("2 files are not published")
                .hasMessageContaining("restart the query");
        assertThat(dir).as("local copies that nobody can read any more").isEmptyDirectory();
        assertThatThrownBy(() -> submit(Kind.STATE, "state/b")).hasMessageContaining("commits/0");
        assertThatThrownBy(() -> publisher.find("offsets/1")).hasMessageContaining("commits/0");
        assertThat(publisher.hasFailed()).isTrue();
        assertThat(storage.order()).isEmpty();
    }

    @Test
    void replacesAThreadThatHangsAndGoesOnFromTheLocalCopy() throws Exception {
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        awaitAttempts("commits/0", 1);
        pass(HANG + 1);
        awaitFailures(1);
        pass(PAUSE);
        publisher.awaitPublished();
        assertThat(publisher.metrics().restarts()).isEqualTo(1);
        assertThat(storage.text("commits/0")).isEqualTo("commits/0");

        released.countDown(); // the hung write goes on, and finds the file
        submit(Kind.LOG, "offsets/1");
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("commits/0", "offsets/1");
    }

    @Test
    void aWriteThatReadsIsNotHung() throws Exception {
        storage.beforeWrites("commits/0", target -> now.addAndGet(HANG));
        submit(Kind.LOG, "commits/0");
        publisher.awaitPublished();
        assertThat(publisher.metrics().restarts()).isZero();
    }

    @Test
    void beginsASilentWriteAgainAndTheFirstToEndCounts() throws Exception {
        publishUsual(HEDGING);
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        awaitAttempts("commits/0", 1);
        pass(UNUSUAL - 1);
        Thread.sleep(20); // time to go wrong
        assertThat(storage.attempts("commits/0")).isEqualTo(1);
        pass(1);
        publisher.awaitPublished();
        assertThat(publisher.metrics().hedges()).isEqualTo(1);
        assertThat(publisher.metrics().failures()).isZero();

        released.countDown(); // the silent write goes on, and finds the file
        submit(Kind.LOG, "offsets/1");
        publisher.awaitPublished();
        assertThat(storage.order()).endsWith("commits/0", "offsets/1");
    }

    @Test
    void recognizesItsFirstWriteInTheSecond() throws Exception {
        publishUsual(HEDGING);
        storage.afterWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        awaitAttempts("commits/0", 1);
        pass(UNUSUAL);
        publisher.awaitPublished(); // the first is there, and has not come back
        assertThat(storage.attempts("commits/0")).isEqualTo(2);
    }

    @Test
    void hedgesNothingWithoutTheSetting() throws Exception {
        publishUsual(0);
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        awaitAttempts("commits/0", 1);
        pass(UNUSUAL);
        Thread.sleep(20); // time to go wrong
        assertThat(storage.attempts("commits/0")).isEqualTo(1);
    }

    /** Writes that are never silent for long. */
    private void publishUsual(int hedgedPercentMax) throws Exception {
        publisher.abandon();
        Backoff backoff = new Backoff(PAUSE, PAUSE);
        PublishSettings settings =
                new PublishSettings(
                        3, 9, 1_000, WAIT, 3, 10 * UNUSUAL, backoff, 0, hedgedPercentMax);
        publisher = publisher(settings, settings.limits());
        for (int file = 0; file < 16; file++) {
            submit(Kind.STATE, "state/" + file);
            publisher.awaitPublished();
        }
    }

    @Test
    void replacesAThreadThatDied() throws Exception {
        storage.beforeWrites("commits/0", FaultyStorage.dies(), FaultyStorage.dies());
        submit(Kind.LOG, "commits/0");
        for (int failures = 1; failures <= 2; failures++) {
            awaitFailures(failures);
            pass(PAUSE);
        }
        publisher.awaitPublished();
        assertThat(publisher.metrics().restarts()).isEqualTo(2);
        assertThat(storage.order()).containsExactly("commits/0");
    }

    @Test
    void recognizesItsOwnWriteThatWasReportedAsFailed() throws Exception {
        storage.afterWrites("commits/0", FaultyStorage.fails());
        submit(Kind.LOG, "commits/0");
        awaitFailures(1);
        pass(PAUSE);
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("commits/0");
        assertThat(storage.attempts("commits/0")).isEqualTo(2);
    }

    /** As a client does that repeats a rename whose answer was lost. */
    @Test
    void recognizesStateThatIsThereAtTheFirstAttempt() throws Exception {
        String target = "state/0/0/2_u.changelog";
        storage.write(target, new ByteArrayInputStream(target.getBytes(UTF_8)), false);
        submit(Kind.STATE, target, target, false);
        publisher.awaitPublished();
        assertThat(storage.attempts(target)).isEqualTo(2);
        submit(Kind.STATE, target, "something else", false);
        assertThatThrownBy(() -> publisher.awaitPublished())
                .hasMessageContaining("a second query uses this checkpoint");
    }

    @Test
    void failsAtOnceIfAnotherQueryWroteTheFile() throws Exception {
        storage.write("commits/0", new ByteArrayInputStream(new byte[] {1}), false);
        submit(Kind.LOG, "commits/0");
        assertThatThrownBy(() -> publisher.awaitPublished())
                .hasMessageContaining("a second query uses this checkpoint")
                .hasRootCauseInstanceOf(FileAlreadyExistsException.class);
        assertThat(storage.attempts("commits/0")).isEqualTo(2);
    }

    @Test
    void refusesALocalCopyThatIsNotComplete() throws Exception {
        CountDownLatch cut = new CountDownLatch(1);
        storage.beforeWrites("offsets/0", FaultyStorage.waitsFor(cut));
        submit(Kind.LOG, "offsets/0");
        submit(Kind.LOG, "commits/0");
        Files.writeString(publisher.find("commits/0"), "com");
        cut.countDown();
        for (int failures = 1; failures < 3; failures++) {
            awaitFailures(failures);
            pass(PAUSE);
        }
        assertThatThrownBy(() -> publisher.awaitPublished()).hasMessageContaining("3 of 9 bytes");
        assertThat(storage.order()).containsExactly("offsets/0");
    }
}
