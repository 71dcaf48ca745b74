package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DoorkeeperTest {
    private static final int BITS = 1 << 16;

    private final Doorkeeper keeper = new Doorkeeper(BITS);

    private static long hash(int key) {
        return (key + 1) * 0x9e3779b97f4a7c15L;
    }

    private int knownOf(int first, int last) {
        int known = 0;
        for (int key = first; key < last; key++) {
            known += keeper.hasCome(hash(key)) ? 1 : 0;
        }
        return known;
    }

    @Test
    void knowsWhatHasComeBefore() {
        knownOf(0, 1000);
        assertThat(knownOf(0, 1000)).isEqualTo(1000);
        assertThat(knownOf(1000, 2000)).as("taken for others").isLessThan(100);
    }

    @Test
    void twoQuestionsInARowAreOneVisit() {
        assertThat(keeper.hasCome(hash(1))).isFalse();
        assertThat(keeper.hasCome(hash(1))).isFalse();
        keeper.hasCome(hash(2));
        assertThat(keeper.hasCome(hash(1))).isTrue();
    }

    @Test
    void forgetsBeforeItKnowsAll() {
        knownOf(0, BITS);
        assertThat(knownOf(BITS, BITS + 1000)).isLessThan(200);
    }
}
