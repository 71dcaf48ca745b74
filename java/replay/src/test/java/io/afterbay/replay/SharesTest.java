package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.replay.Shares.Reader;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SharesTest {
    private static final Reader HELD = new Reader(10, true);

    @Test
    void readersThatAreHeldBackGetTheSame() {
        assertThat(Shares.of(300, Map.of(0, HELD, 1, HELD, 2, HELD)))
                .isEqualTo(Map.of(0, 100.0, 1, 100.0, 2, 100.0));
    }

    @Test
    void whatOneDoesNotNeedGoesToTheOthers() {
        Map<Integer, Double> shares =
                Shares.of(300, Map.of(0, HELD, 1, new Reader(20, false), 2, HELD));
        assertThat(shares).isEqualTo(Map.of(0, 135.0, 1, 30.0, 2, 135.0));
    }

    /** It must be able to begin, and a new share takes a while. */
    @Test
    void oneThatHasNothingToReadKeepsALittle() {
        Map<Integer, Double> shares = Shares.of(200, Map.of(0, HELD, 1, new Reader(0, false)));
        assertThat(shares).isEqualTo(Map.of(0, 195.0, 1, 5.0));
    }

    @Test
    void whereNobodyIsHeldBackAllGetTheSame() {
        Map<Integer, Double> shares =
                Shares.of(200, Map.of(0, new Reader(3, false), 1, new Reader(0, false)));
        assertThat(shares).isEqualTo(Map.of(0, 100.0, 1, 100.0));
    }

    @Test
    void theLastOneGetsAll() {
        assertThat(Shares.of(200, Map.of(1, HELD))).isEqualTo(Map.of(1, 200.0));
        assertThat(Shares.of(200, Map.of())).isEmpty();
    }

    @Test
    void aPauseAndNoLimitAreForAll() {
        Map<Integer, Reader> readers = Map.of(0, HELD, 1, new Reader(0, false));
        assertThat(Shares.of(0, readers)).isEqualTo(Map.of(0, 0.0, 1, 0.0));
        assertThat(Shares.of(Double.POSITIVE_INFINITY, readers))
                .isEqualTo(Map.of(0, Double.POSITIVE_INFINITY, 1, Double.POSITIVE_INFINITY));
    }

    @Test
    void togetherTheyAreTheRateWheneverSomeoneWantsMore() {
        Random random = new Random(7);
        for (int i = 0; i < 1_000; i++) {
            Map<Integer, Reader> readers = new HashMap<>();
            for (int subtask = 0; subtask <= random.nextInt(8); subtask++) {
                readers.put(subtask, new Reader(random.nextInt(500), random.nextBoolean()));
            }
            readers.put(99, HELD);
            double sum = Shares.of(1_000, readers).values().stream().mapToDouble(d -> d).sum();
            assertThat(sum).as("%s", readers).isCloseTo(1_000, within(1e-6));
        }
    }
}
