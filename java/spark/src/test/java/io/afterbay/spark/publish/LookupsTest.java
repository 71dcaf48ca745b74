package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A storage that fails or does not answer when it is asked for a file. */
class LookupsTest {
    private static final long HANG = 1_000;

    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();
    private final CountDownLatch hang = new CountDownLatch(1);

    /** What happens at the first question; those that follow find the file. */
    private interface First {
        void strike() throws IOException, InterruptedException;
    }

    private Lookups lookups(First first) {
        return new Lookups("ckpt", target -> ask(first), HANG, now::get);
    }

    private boolean ask(First first) throws IOException {
        if (asked.getAndIncrement() == 0) {
            try {
                first.strike();
            } catch (InterruptedException e) {
                return false;
            }
        }
        return true;
    }

    @AfterEach
    void end() {
        hang.countDown();
    }

    private static void awaitFound(Lookups lookups) throws Exception {
        while (!lookups.isFound("offsets/7")) {
            Thread.sleep(1);
        }
    }

    @Test
    void oneThatHangsIsBegunAgain() throws Exception {
        Lookups lookups = lookups(hang::await);
        assertThat(lookups.isFound("offsets/7")).isFalse();
        while (asked.get() == 0) {
            Thread.sleep(1);
        }
        now.set(HANG);
        assertThat(lookups.isFound("offsets/7")).isFalse();
        assertThat(asked).hasValue(1);
        now.set(HANG + 1);
        awaitFound(lookups);
        assertThat(asked).hasValue(2);
    }

    /** Of a task that was killed, as its query failed; this is one of the next run. */
    @Test
    void whatWentWrongLongAgoIsNobodysBusiness() throws Exception {
        Lookups lookups =
                lookups(
                        () -> {
                            throw new IOException("disk on fire");
                        });
        assertThat(lookups.isFound("offsets/7")).isFalse();
        while (asked.get() == 0) {
            Thread.sleep(1);
        }
        now.set(HANG + 1);
        awaitFound(lookups);
        assertThat(asked).hasValue(2);
    }

    @Test
    void whoAsksHearsWhatWentWrongAndMayAskAgain() throws Exception {
        Lookups lookups =
                lookups(
                        () -> {
                            throw new IOException("disk on fire");
                        });
        assertThatThrownBy(() -> awaitFound(lookups))
                .hasMessage("offsets/7 cannot be looked for")
                .hasRootCauseMessage("disk on fire");
        awaitFound(lookups);
        assertThat(asked).hasValue(2);
    }
}
