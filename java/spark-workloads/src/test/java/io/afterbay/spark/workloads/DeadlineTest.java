package io.afterbay.spark.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DeadlineTest {
    private final Deadline deadline = new Deadline(3000);

    private void teach() {
        for (long records = 1000; records <= 5000; records += 1000) {
            deadline.ended(records, 500 + records / 10.0);
        }
    }

    @Test
    void expectsWhatALineThroughTheLastBatchesSays() {
        teach();
        assertThat(deadline.expectedMs(2000)).isCloseTo(700, within(1.0));
        assertThat(deadline.expectedMs(20_000)).isCloseTo(2500, within(1.0));
    }

    @Test
    void waitsUntilTheOldestRecordWouldBeLate() {
        teach();
        assertThat(deadline.isDue(2000, 2000)).isFalse();
        assertThat(deadline.isDue(2301, 2000)).isTrue();
        assertThat(deadline.isDue(500, 20_000)).isTrue();
    }

    @Test
    void doesWithoutBatchesAndWithEqualOnes() {
        assertThat(deadline.expectedMs(100)).isZero();
        deadline.ended(100, 40);
        deadline.ended(100, 40);
        assertThat(deadline.expectedMs(1000)).isCloseTo(40, within(0.1));
    }

    @Test
    void newerBatchesWeighMore() {
        for (int i = 0; i < 20; i++) {
            deadline.ended(100, 1000);
        }
        for (int i = 0; i < 20; i++) {
            deadline.ended(100, 100);
        }
        assertThat(deadline.expectedMs(100)).isBetween(100.0, 120.0);
    }
}
