package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HitTest {
    @Test
    void eachIsThereOnceAndFourInTurnHaveBothModesWithBothVictims() {
        for (int seed = 0; seed < 50; seed++) {
            List<Hit> all = Hit.all(new Random(seed));
            assertThat(all).hasSize(2 * 5 * 2).doesNotHaveDuplicates();
            for (int i = 0; i < all.size(); i += 4) {
                assertThat(all.subList(i, i + 4))
                        .extracting(hit -> hit.mode() + " " + hit.victim())
                        .doesNotHaveDuplicates();
            }
        }
    }

    @Test
    void theSeedSaysTheOrder() {
        assertThat(Hit.all(new Random(7))).isEqualTo(Hit.all(new Random(7)));
        assertThat(Hit.all(new Random(7))).isNotEqualTo(Hit.all(new Random(8)));
    }
}
