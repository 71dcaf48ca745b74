package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private final Turns turns = new Turns();

    private void giveWay(long nanos) {
        try {
            turns.giveWay(nanos);
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
        Thread turn = new Thread(() -> giveWay(Long.MAX_VALUE / 2));
        turn.start();
        Await.until(
                () -> "it to wait; it is " + turn.getState(),
                () -> turn.getState() == Thread.State.TIMED_WAITING);
        turns.end();
        turns.begin();
        turn.join(Await.DEADLINE.toMillis());
        assertThat(turn.isAlive()).isFalse();
    }

    @Test
    void aReadThatIsStuckHoldsNobodyUp() throws Exception {
        turns.begin();
        CompletableFuture.runAsync(() -> giveWay(0))
                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void anInterruptEndsTheWait() {
        turns.begin();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> turns.giveWay(Long.MAX_VALUE / 2)).isInstanceOf(IOException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
