package io.afterbay.doctor.reading;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IntervalsTest {
    @Test
    void theOrderOfTheirBeginsIsKeptOrMade() {
        Intervals intervals = new Intervals();
        intervals.add(10, 40);
        intervals.add(20, 30);
        assertThat(intervals.inOrder()).isSameAs(intervals);
        intervals.add(5, 50);
        Intervals ordered = intervals.inOrder();
        assertThat(ordered.size()).isEqualTo(3);
        assertThat(ordered.start(0)).isEqualTo(5);
        assertThat(ordered.end(0)).isEqualTo(50);
        assertThat(ordered.end(1)).as("ends stay with their begins").isEqualTo(40);
    }
}
