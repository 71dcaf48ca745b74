package io.afterbay.workloads.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WatermarksTest {

    /** What latencies are counted from: the event whose watermark completes a window. */
    @ParameterizedTest
    @ValueSource(longs = {7, 100, 1_000, 333_333})
    void theFirstWatermarkThatReachesATimeIsFound(long interEventMicros) {
        Generator generator = new Generator(1, interEventMicros, 10);
        for (long millis = 0; millis < 1_000; millis++) {
            long index = Watermarks.indexThatReaches(millis, generator);
            assertThat(watermark(generator, index)).isGreaterThanOrEqualTo(millis);
            assertThat(watermark(generator, index - 1)).isLessThan(millis);
        }
    }

    private static long watermark(Generator generator, long index) {
        return generator.timeMillis(index * Watermarks.EVERY_EVENTS) - 2;
    }
}
