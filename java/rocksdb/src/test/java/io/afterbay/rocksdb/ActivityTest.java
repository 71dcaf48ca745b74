package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ActivityTest {
    private final Activity activity = new Activity();

    @Test
    void countsWhatIsAtWorkAtOnce() {
        activity.flushBegan();
        activity.flushBegan();
        activity.flushesEnded(2);
        activity.compactionBegan(1);
        activity.compactionBegan(1);
        activity.compactionBegan(1);
        activity.compactionsEnded(1);
        assertThat(activity.mostFlushes()).isEqualTo(2);
        assertThat(activity.mostCompactions()).isEqualTo(3);
        assertThat(activity.flushes()).isZero();
        assertThat(activity.compactions()).isEqualTo(2);
        assertThat(activity.flushesBegan()).isEqualTo(2);
        assertThat(activity.compactionsBegan()).isEqualTo(3);
    }

    @Test
    void overlapsAreOfDifferentKinds() {
        activity.compactionBegan(1);
        activity.compactionBegan(1);
        assertThat(activity.overlaps()).isZero();
        activity.flushBegan();
        activity.compactionsEnded(2);
        activity.flushBegan();
        assertThat(activity.overlaps()).isEqualTo(1);
        activity.compactionBegan(1);
        assertThat(activity.overlaps()).isEqualTo(2);
    }

    @Test
    void countsCompactionsByBurst() {
        activity.compactionBegan(1);
        activity.compactionBegan(1);
        activity.compactionBegan(2);
        activity.compactionBegan(3);
        assertThat(activity.mostCompactionsOfBurst()).isEqualTo(2);
    }
}
