package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void doublesUpToTheLimitAndIsAtLeastHalfOfIt() {
        Backoff backoff = new Backoff(10, 100);
        assertThat(backoff.nanos(1, 0)).isEqualTo(5);
        assertThat(backoff.nanos(2, 0)).isEqualTo(10);
        assertThat(backoff.nanos(4, 0)).isEqualTo(40);
        assertThat(backoff.nanos(5, 0)).isEqualTo(50);
        assertThat(backoff.nanos(5, 0.999)).isBetween(99L, 100L);
    }

    @Test
    void doesNotOverflow() {
        Backoff backoff = new Backoff(1_000_000_000, Long.MAX_VALUE);
        for (int failures = 1; failures < 200; failures++) {
            assertThat(backoff.nanos(failures, 0.5)).isPositive();
        }
    }

    @Test
    void refusesAFirstPauseAboveTheLongest() {
        assertThatThrownBy(() -> new Backoff(2, 1)).hasMessageContaining("2 and 1");
    }
}
