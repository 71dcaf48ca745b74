package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ReplayRangeTest {
    @Test
    void itHasItsBeginningAndNotItsEnd() {
        ReplayRange range = new ReplayRange(100, 200);
        assertThat(range.contains(99)).isFalse();
        assertThat(range.contains(100)).isTrue();
        assertThat(range.contains(199)).isTrue();
        assertThat(range.contains(200)).isFalse();
        assertThat(range.nearest(0)).isEqualTo(100);
        assertThat(range.nearest(150)).isEqualTo(150);
        assertThat(range.nearest(1_000)).isEqualTo(200);
    }

    @Test
    void oneThatIsEmptyOrReversedIsRefused() {
        assertThatThrownBy(() -> new ReplayRange(5, 5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "a replay from 1970-01-01T00:00:00.005Z to 1970-01-01T00:00:00.005Z has nothing in it: it must begin before it ends");
        assertThatThrownBy(() -> new ReplayRange(Long.MAX_VALUE, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from +292278994-08-17T");
    }
}
