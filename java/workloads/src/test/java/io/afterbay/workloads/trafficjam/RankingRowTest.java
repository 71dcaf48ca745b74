package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RankingRowTest {

    @Test
    void largestJamFirstAndEqualJamsByStreetInStringOrder() {
        List<RankingRow> rows =
                RankingRow.rank(
                        List.of(
                                street("9", 2, 2, 0),
                                street("10", 2, 7, 0),
                                street("-3", 2, 1, 0),
                                street("free", 9, 1, 139),
                                street("slow", 3, 1, 0),
                                street("faster than free flow", 50, 1, 500)));
        assertThat(rows)
                .extracting(row -> row.figures().street())
                .containsExactly("slow", "-3", "10", "9", "faster than free flow");
        assertThat(rows).extracting(RankingRow::rank).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    void jamsThatPrintAlikeAreStillRankedByTheirExactValue() {
        // 1 - S/(139 n): equal after rounding, larger by less than a thousandth.
        List<RankingRow> rows =
                RankingRow.rank(List.of(street("a", 1, 10_000, 2), street("b", 1, 10_000, 1)));
        assertThat(rows).extracting(row -> row.figures().street()).containsExactly("b", "a");
        assertThat(rows.get(0).figures().jam()).isEqualTo(rows.get(1).figures().jam());
    }

    @Test
    void figuresAreRoundedHalfUpFromExactFractions() {
        // Mean 0.0125 m/s and 0.0005 m/s lie exactly between two thousandths.
        assertThat(street("s", 1, 80, 10).meanSpeedMps()).hasToString("0.013");
        assertThat(street("s", 1, 200, 1).meanSpeedMps()).hasToString("0.001");
        assertThat(street("s", 1, 3, 200).meanSpeedMps()).hasToString("6.667");
        assertThat(street("s", 3, 1, 139).jam()).hasToString("0.000");
        assertThat(new RankingRow(4, street("s", 3, 2, 139)).csv())
                .isEqualTo("10,4,s,3,6.950,1.500");
    }

    private static StreetFigures street(String name, long cars, long reports, long speedSumDms) {
        return new StreetFigures(10, name, cars, reports, speedSumDms, Stamps.NONE);
    }
}
