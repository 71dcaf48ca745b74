package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.publish.FaultyStorage.Fault;
import io.afterbay.testing.Await;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Log files are written before their turn, and seen in their order all the same. */
class StagingTest {
    private static final long PATIENCE = Await.DEADLINE.toNanos();

    @TempDir private Path dir;
    private final FaultyStorage storage = new FaultyStorage().staging();
    private final CountDownLatch released = new CountDownLatch(1);
    private Publisher publisher = publisher(0);

    private Publisher publisher(int hedgedPercentMax) {
        PublishSettings settings =
                new PublishSettings(
                        4,
                        100,
                        1 << 20,
                        PATIENCE,
                        3,
                        PATIENCE,
                        new Backoff(1, 1),
                        0,
                        hedgedPercentMax);
        return new Publisher("ckpt", storage, settings);
    }

    @AfterEach
    void end() {
        released.countDown();
        publisher.abandon();
    }

    private void submit(Kind kind, String target) throws IOException {
        Path local = Files.createTempFile(dir, "copy", "");
        Files.writeString(local, target);
        publisher.submit(kind, target, local, kind == Kind.STATE);
    }

    private void awaitStaged(String target, int count) throws InterruptedException {
        while (storage.staged(target) < count) {
            Thread.sleep(1);
        }
    }

    private void heldState() throws IOException {
        Fault held = FaultyStorage.waitsFor(released);
        storage.beforeWrites("state/a", held, held); // also if it is begun again
        submit(Kind.STATE, "state/a");
    }

    /** State that is begun again may be written again later, the same; a log file never is. */
    private Set<String> publishedOnce() {
        List<String> order = storage.order();
        assertThat(order)
                .filteredOn(target -> !target.startsWith("state/"))
                .doesNotHaveDuplicates();
        return new LinkedHashSet<>(order);
    }

    @Test
    void theLogIsThereInFullBeforeTheStateAndIsSeenBehindIt() throws Exception {
        heldState();
        submit(Kind.LOG, "commits/0");
        submit(Kind.LOG, "offsets/1");
        awaitStaged("commits/0", 1);
        awaitStaged("offsets/1", 1);
        assertThat(storage.order()).isEmpty();
        assertThat(storage.exists("commits/0")).isFalse();
        assertThat(publisher.find("commits/0")).hasContent("commits/0");
        assertThat(publisher.isPublished("commits/0")).isFalse();

        released.countDown();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("state/a", "commits/0", "offsets/1");
        assertThat(storage.text("offsets/1")).isEqualTo("offsets/1");
        assertThat(storage.attempts("offsets/1")).isEqualTo(1);
        assertThat(storage.hidden()).isZero();
    }

    @Test
    void whatHasItsTurnIsWrittenAtOnce() throws Exception {
        submit(Kind.LOG, "offsets/0");
        publisher.awaitPublished();
        assertThat(storage.staged("offsets/0")).isZero();
    }

    @Test
    void whatCannotBeStagedIsTriedAgain() throws Exception {
        storage.beforeWrites("commits/0", FaultyStorage.fails(), FaultyStorage.dies());
        heldState();
        submit(Kind.LOG, "commits/0");
        awaitStaged("commits/0", 1);
        assertThat(publisher.metrics().failures()).isEqualTo(2);
        released.countDown();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("state/a", "commits/0");
    }

    @Test
    void whatCanNeverBeStagedFailsTheQuery() throws Exception {
        Fault fails = FaultyStorage.fails();
        storage.beforeWrites("commits/0", fails, fails, fails);
        heldState();
        submit(Kind.LOG, "commits/0");
        assertThatThrownBy(() -> publisher.awaitPublished())
                .hasMessageContaining("cannot publish commits/0: 3 attempts failed");
    }

    @Test
    void aRenamingThatWasReportedAsFailedIsRecognized() throws Exception {
        storage.afterWrites("commits/0", FaultyStorage.fails());
        heldState();
        submit(Kind.LOG, "commits/0");
        awaitStaged("commits/0", 1);
        released.countDown();
        publisher.awaitPublished();
        assertThat(storage.order()).containsExactly("state/a", "commits/0");
        assertThat(publisher.metrics().failures()).isEqualTo(1);
        assertThat(storage.hidden()).isZero();
    }

    @Test
    void aSecondQueryIsFound() throws Exception {
        heldState();
        submit(Kind.LOG, "commits/0");
        awaitStaged("commits/0", 1);
        storage.write("commits/0", new ByteArrayInputStream("commits/0".getBytes()), false);
        released.countDown();
        assertThatThrownBy(() -> publisher.awaitPublished())
                .hasMessageContaining("a second query uses this checkpoint");
        assertThat(storage.order()).containsExactly("commits/0", "state/a");
        while (storage.hidden() > 0) {
            Thread.sleep(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsStagedIsRemovedWhenNothingMoreIsPublished(boolean isFailed) throws Exception {
        heldState();
        submit(Kind.LOG, "commits/0");
        submit(Kind.LOG, "offsets/1");
        awaitStaged("commits/0", 1);
        awaitStaged("offsets/1", 1);
        if (isFailed) {
            publisher.fail("executor 1 cannot write");
        } else {
            publisher.abandon();
        }
        while (storage.hidden() > 0) {
            Thread.sleep(1);
        }
        released.countDown();
        assertThat(storage.exists("commits/0")).isFalse();
    }

    @Test
    void aStagingThatIsSilentIsBegunAgainAndNothingIsLeft() throws Exception {
        publisher.abandon();
        publisher = publisher(100);
        for (int file = 0; file < 16; file++) {
            submit(Kind.STATE, "state/" + file);
            publisher.awaitPublished();
        }
        heldState();
        storage.beforeWrites("commits/0", FaultyStorage.waitsFor(released));
        submit(Kind.LOG, "commits/0");
        submit(Kind.LOG, "offsets/1");
        awaitStaged("commits/0", 1);
        assertThat(storage.attempts("commits/0")).isEqualTo(2);
        released.countDown();
        publisher.awaitPublished();
        assertThat(publishedOnce()).endsWith("state/a", "commits/0", "offsets/1");
        assertThat(publisher.metrics().hedges()).isPositive();
        while (storage.hidden() > 0) { // of the one that came second
            Thread.sleep(1);
        }
    }
}
