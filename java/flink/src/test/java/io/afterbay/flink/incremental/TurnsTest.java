package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private static final int PATIENCE_SECONDS = 60;

    private final Turns turns = new Turns();

    private void giveWay(int seconds) {
        try {
            turns.giveWay(TimeUnit.SECONDS.toNanos(seconds));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void nobodyWaitsForNobody() throws IOException {
        turns.giveWay(Long.MAX_VALUE / 2);
        turns.begin();
        turns.end();
        turns.giveWay(Long.MAX_VALUE / 2);
    }

    /** Though others are under way: who reads all the time must not hold downloads up. */
    @Test
    void oneReadPassesAndNoMore() throws Exception {
        turns.begin();
        turns.begin();
        Thread turn = new Thread(() -> giveWay(2 * PATIENCE_SECONDS));
        turn.start();
        while (turn.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        turns.end();
        turns.begin();
        turn.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        assertThat(turn.isAlive()).isFalse();
    }

    @Test
    void aReadThatIsStuckHoldsNobodyUp() throws Exception {
        turns.begin();
        CompletableFuture.runAsync(() -> giveWay(0)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void anInterruptEndsTheWait() {
        turns.begin();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> turns.giveWay(Long.MAX_VALUE / 2)).isInstanceOf(IOException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
