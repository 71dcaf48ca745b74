package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShareShiftTest {
    private final List<Double> shares = new ArrayList<>();

    private void seconds(int count, double percent) {
        for (int i = 0; i < count; i++) {
            shares.add(percent);
        }
    }

    private ShareShift shift(int from, int until) {
        return new ShareShift(shares, from, until);
    }

    /** At the mark (90 % of 16) from the sixth second on: three more, and it is seen. */
    @Test
    void theMarkIsNineTenthsOfWhatIsLostForThreeSeconds() {
        seconds(10, 20);
        seconds(5, 10);
        seconds(15, 4);
        seconds(8, 10);
        seconds(12, 20);
        assertThat(shift(10, 30).shiftS()).isEqualTo(8);
        assertThat(shift(10, 30).backS()).isEqualTo(11);
    }

    /** Negative control. */
    @Test
    void oneThatKeepsItsShareHasNotShifted() {
        seconds(10, 20);
        seconds(20, 16);
        seconds(10, 20);
        assertThat(shift(10, 30).shiftS()).isNull();
        assertThat(shift(10, 30).backS()).isNull();
    }

    @Test
    void oneThatDoesNotComeBackHasNoTimeForThat() {
        seconds(10, 20);
        seconds(20, 4);
        seconds(10, 15);
        assertThat(shift(10, 30).shiftS()).isEqualTo(3);
        assertThat(shift(10, 30).backS()).isNull();
    }

    /** One percent every five seconds, as the paper's algorithm. */
    @Test
    void oneThatIsStillMovingIsMeasuredAgainstWhereItIs() {
        seconds(10, 20);
        for (int step = 1; step <= 12; step++) {
            seconds(5, 20 - step);
        }
        seconds(10, 8);
        assertThat(shift(10, 70).shiftS()).isGreaterThan(40);
    }

    @Test
    void singleSecondsDoNotCount() {
        seconds(10, 20);
        shares.add(0.0);
        seconds(9, 20);
        seconds(10, 4);
        seconds(1, 20);
        seconds(9, 4);
        assertThat(shift(10, 30).shiftS()).isEqualTo(13);
        assertThat(shift(10, 30).backS()).isNull();
    }
}
