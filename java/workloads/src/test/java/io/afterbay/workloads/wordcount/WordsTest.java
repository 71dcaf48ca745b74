package io.afterbay.workloads.wordcount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class WordsTest {
    private static final int WORDS = 100_000;

    @Test
    void areTheSameForASeedAndOthersForAnother() {
        Words words = new Words(7, 1_000, 1);
        assertThat(words.counts(WORDS)).isEqualTo(new Words(7, 1_000, 1).counts(WORDS));
        assertThat(words.counts(WORDS)).isNotEqualTo(new Words(8, 1_000, 1).counts(WORDS));
    }

    /** Of 1,000 words, Zipf gives the first 1 / 7.49 of all, and the tenth a tenth of that. */
    @Test
    void areAsFrequentAsZipfSays() {
        Map<String, Long> counts = new Words(7, 1_000, 1).counts(WORDS);
        assertThat(counts.get("word0")).isBetween(13_000L, 13_700L);
        assertThat(counts.get("word9")).isBetween(1_200L, 1_470L);
        assertThat(counts).hasSizeBetween(990, 1_000);
    }

    @Test
    void areEquallyFrequentWithoutSkew() {
        assertThat(new Words(7, 10, 0).counts(WORDS).values())
                .hasSize(10)
                .allMatch(count -> count > 9_500 && count < 10_500);
        assertThat(new Words(7, 1, 1).counts(3)).isEqualTo(Map.of("word0", 3L));
    }

    @Test
    void refuseWhatIsNoVocabulary() {
        assertThatThrownBy(() -> new Words(7, 0, 1)).hasMessageContaining("1 or more");
        assertThatThrownBy(() -> new Words(7, 1, Double.NaN)).hasMessageContaining("0 or more");
    }
}
