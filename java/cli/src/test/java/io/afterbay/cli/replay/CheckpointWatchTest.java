package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CheckpointWatchTest {
    private static final String PLACE = "file:/past/checkpoints";
    private static final Instant BEGUN = Instant.ofEpochSecond(1_000);

    private long nowNanos = 5;

    private CheckpointWatch every(Duration interval) {
        return new CheckpointWatch(interval, PLACE, () -> nowNanos);
    }

    private void pass(long seconds) {
        nowNanos += TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void saysNothingAsLongAsTheyCome() {
        CheckpointWatch watch = every(Duration.ofSeconds(10));
        for (int completed = 0; completed < 10; completed++) {
            assertThat(watch.note(completed)).isEmpty();
            pass(99);
            assertThat(watch.note(completed)).isEmpty();
        }
        pass(1);
        assertThat(watch.note(9))
                .isEqualTo(", no checkpoint for 1 min 40 s: is there room in " + PLACE + "?");
        assertThat(watch.note(10)).isEmpty();
    }

    /** It takes its time if they are to come every 100 ms, too. */
    @Test
    void aMinuteIsNotLong() {
        CheckpointWatch watch = every(Duration.ofMillis(100));
        pass(59);
        assertThat(watch.note(0)).isEmpty();
        pass(1);
        assertThat(watch.note(0)).contains("no checkpoint for 1 min 0 s");
    }

    @Test
    void ofAnotherProcessTheTimeSinceItBeganOrSinceTheNewestOneCounts() {
        CheckpointWatch watch = every(Duration.ofSeconds(6));
        Instant now = BEGUN.plusSeconds(90);
        assertThat(watch.note(BEGUN.toEpochMilli(), null, now)).contains("for 1 min 30 s");
        assertThat(watch.note(BEGUN.toEpochMilli(), BEGUN.minusSeconds(500), now))
                .contains("for 1 min 30 s");
        assertThat(watch.note(BEGUN.toEpochMilli(), BEGUN.plusSeconds(20), now))
                .contains("for 1 min 10 s");
        assertThat(watch.note(BEGUN.toEpochMilli(), BEGUN.plusSeconds(31), now)).isEmpty();
        assertThat(watch.note(BEGUN.toEpochMilli(), null, BEGUN.plusSeconds(59))).isEmpty();
    }
}
