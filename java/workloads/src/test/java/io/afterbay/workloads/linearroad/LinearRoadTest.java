package io.afterbay.workloads.linearroad;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LinearRoadTest {
    private static final int PER_S = 1000;
    private static final int REPORTS = PER_S * LinearRoad.SECONDS_BETWEEN_REPORTS;
    private final LinearRoad road = LinearRoad.at(7, PER_S);

    @Test
    void aReportDependsOnSeedAndNumberOnly() {
        LinearRoad same = LinearRoad.at(7, PER_S);
        LinearRoad other = LinearRoad.at(8, PER_S);
        for (long number = 99; number >= 0; number--) {
            assertThat(same.report(number)).isEqualTo(road.report(number));
        }
        assertThat(LongStream.range(0, 100).filter(n -> other.report(n).equals(road.report(n))))
                .isEmpty();
    }

    @Test
    void fieldsAreThoseOfTheBenchmark() {
        for (long number = 0; number < REPORTS; number++) {
            PositionReport report = road.report(number);
            assertThat(report.vehicle()).isBetween(0, REPORTS - 1);
            assertThat(report.speed()).isBetween(0, 99);
            assertThat(report.highway()).isBetween(0, LinearRoad.HIGHWAYS - 1);
            assertThat(report.lane()).isBetween(0, 4);
            assertThat(report.direction()).isBetween(0, 1);
            assertThat(report.segment()).isBetween(0, LinearRoad.SEGMENTS - 1);
        }
    }

    /** A self join within 30 s has hot keys, and does not explode. */
    @Test
    void someVehiclesReportMoreOftenAndAReportMeetsOneOrTwoOthers() {
        Map<Integer, Integer> counts = new HashMap<>();
        for (long number = 0; number < REPORTS; number++) {
            counts.merge(road.report(number).vehicle(), 1, Integer::sum);
        }
        long pairs = counts.values().stream().mapToLong(c -> (long) c * (c - 1)).sum();
        assertThat((double) pairs / REPORTS).isBetween(1.1, 1.6);
        int most = counts.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
        assertThat(most).isBetween(10, 100);
        assertThat(counts).hasSizeGreaterThan(REPORTS / 3);
    }

    @Test
    void everyFourthReportComesFromTheJamWhichMoves() {
        long jammed = LongStream.range(0, REPORTS).filter(road::isInJam).count();
        assertThat((double) jammed / REPORTS).isBetween(0.24, 0.26);
        assertThat(LongStream.range(0, REPORTS).filter(road::isInJam).mapToObj(road::report))
                .allMatch(report -> report.highway() == 0 && report.speed() < 15)
                .extracting(PositionReport::segment)
                .contains(0, 1, 29);
    }

    @Test
    void someHighwaysAreBusier() {
        long[] counts = new long[LinearRoad.HIGHWAYS];
        for (long number = 0; number < REPORTS; number++) {
            counts[road.report(number).highway()]++;
        }
        assertThat(counts[0]).isGreaterThan(10 * counts[LinearRoad.HIGHWAYS - 1]);
        assertThat(counts[LinearRoad.HIGHWAYS - 1]).isPositive();
    }
}
