package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CountsTest {
    private static final long FROM = 100;

    private Counts counts;

    @BeforeEach
    void create() {
        counts = new Counts(FROM);
        counts.registered(0);
        counts.registered(1);
    }

    private static CountEvent event(String id, long records, long newestMs, boolean hasEnded) {
        return new CountEvent(Map.of(id, records), newestMs, false, hasEnded);
    }

    @Test
    void theSlowestReaderTellsHowFarAllAre() {
        counts.told(0, event("a", 10, 500, false));
        assertThat(counts.areKnown(2)).isFalse();
        counts.told(1, event("b", 5, 300, false));
        assertThat(counts.areKnown(2)).isTrue();
        assertThat(counts.records()).isEqualTo(15);
        assertThat(counts.reachedMs()).isEqualTo(300);
    }

    @Test
    void oneThatHasEndedHoldsNothingUp() {
        counts.told(0, event("a", 10, 200, true));
        counts.told(1, event("b", 5, 300, false));
        assertThat(counts.reachedMs()).isEqualTo(300);
        assertThat(counts.haveAllEnded(2)).isFalse();
        counts.told(1, event("b", 6, 310, true));
        assertThat(counts.haveAllEnded(2)).isTrue();
        assertThat(counts.records()).isEqualTo(16);
    }

    @Test
    void aReaderThatIsRestoredGoesBackWithItsCount() {
        counts.told(0, event("a", 10, 200, false));
        counts.told(0, event("a", 90, 700, false));
        counts.registered(0);
        counts.told(0, event("a", 10, 200, false));
        counts.told(1, event("b", 5, 300, false));
        assertThat(counts.records()).isEqualTo(15);
    }

    /** It comes back with another count, since none was kept. */
    @Test
    void whatFailedBeforeItsFirstCheckpointIsForgotten() {
        counts.told(0, event("a", 90, 700, true));
        counts.told(1, event("b", 5, 300, false));
        counts.registered(0);
        counts.told(0, event("c", 0, FROM, false));
        assertThat(counts.records()).isEqualTo(5);
    }

    /** It comes back with nothing, since a task that has finished is in no checkpoint. */
    @Test
    void whatHadFinishedStays() {
        counts.told(0, event("a", 90, 700, true));
        counts.told(1, event("b", 5, 300, false));
        counts.snapshot(1);
        counts.complete(1);
        counts.registered(0);
        counts.told(0, event("c", 0, FROM, true));
        assertThat(counts.records()).isEqualTo(95);
    }

    /** The checkpoint of the end was not completed, so there is none with it. */
    @Test
    void anEndThatIsInNoCompleteCheckpointDoesNotCount() {
        counts.told(0, event("a", 90, 700, true));
        counts.snapshot(1);
        counts.registered(0);
        counts.told(0, event("c", 0, FROM, false));
        assertThat(counts.records()).isZero();
    }

    @Test
    void aCheckpointHasThoseOfReadersThatDoNotComeBack() {
        counts.told(0, event("a", 90, 700, true));
        counts.told(1, event("b", 5, 300, false));
        Counts restored = new Counts(FROM);
        restored.restore(counts.snapshot(1));
        restored.registered(0);
        restored.registered(1);
        restored.told(0, event("c", 0, FROM, true));
        // The reader's part of a checkpoint is taken after the enumerator's.
        restored.told(1, event("b", 8, 310, false));
        assertThat(restored.records()).isEqualTo(98);
    }
}
