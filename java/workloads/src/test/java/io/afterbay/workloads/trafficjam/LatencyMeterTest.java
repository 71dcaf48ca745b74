package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LatencyMeterTest {

    @Test
    void countsFromTheLastReportAndFromTheOneThatClosedTheWindow() {
        TrafficJamStatistics statistics = TrafficJamStatistics.of("latency-meter");
        LatencyMeter meter = new LatencyMeter(statistics);
        // Reports at 8 s, 12 s and 16 s of event time; 16 s closes the window that ends at 10 s.
        meter.result(row(10), stamps(8, 1_000), 1_900);
        meter.result(row(20), stamps(12, 1_400).with(stamps(16, 1_800)), 2_700);
        assertThat(statistics.latencyMicros().getTotalCount()).isEqualTo(2);
        assertThat(statistics.latencyMicros().getMinValue()).isEqualTo(900);
        assertThat(statistics.latencyMicros().getMaxValue()).isEqualTo(900);
        assertThat(statistics.delayMicros().getTotalCount()).isEqualTo(1);
        assertThat(statistics.delayMicros().getMaxValue()).isEqualTo(100);
        // After a gap, the first report of all closes the window.
        meter.result(row(60), stamps(51, 2_500), 9_000);
        assertThat(statistics.delayMicros().getTotalCount()).isEqualTo(2);
        assertThat(statistics.delayMicros().getMaxValue()).isEqualTo(200);
        TrafficJamStatistics.forget("latency-meter");
    }

    private static Stamps stamps(long timeS, long micros) {
        return Stamps.NONE.with(new Report(timeS, "c", "s", 0, micros));
    }

    private static List<RankingRow> row(long windowEndS) {
        return List.of(new RankingRow(1, new StreetFigures(windowEndS, "s", 1, 1, 0, Stamps.NONE)));
    }
}
