package io.afterbay.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AwaitTest {
    @Test
    void goesOnWhenTheConditionHolds() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Await.until("the third time", () -> asked.incrementAndGet() == 3);
        assertThat(asked).hasValue(3);
    }

    @Test
    void saysWhatWasMissing() {
        assertThatThrownBy(() -> Await.until(Duration.ZERO, () -> "a bus", () -> false))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("in vain for: a bus");
    }
}
