package io.afterbay.workloads.wordcount;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class CountCheckTest {
    private static final Map<String, Long> ANSWER = Map.of("a", 2L, "b", 1L);

    private static String problem(Object... wordsAndCounts) {
        CountCheck check = new CountCheck();
        for (int i = 0; i < wordsAndCounts.length; i += 2) {
            check.result((String) wordsAndCounts[i], (Integer) wordsAndCounts[i + 1]);
        }
        assertThat(check.results()).isEqualTo(wordsAndCounts.length / 2);
        return check.problem(ANSWER);
    }

    @Test
    void acceptsWhatIsRight() {
        assertThat(problem("a", 1, "b", 1, "a", 2)).isNull();
    }

    @Test
    void findsGapsDoublesAndWrongEnds() {
        assertThat(problem("a", 1, "b", 1, "a", 1, "a", 2)).contains("count of a is 1");
        assertThat(problem("a", 2, "b", 1)).contains("result 1").contains("2 instead of 1");
        assertThat(problem("a", 1, "b", 1)).contains("at the end").contains("1 instead of 2");
        assertThat(problem("a", 1, "a", 2)).contains("count of b is null");
        assertThat(problem("a", 1, "a", 2, "b", 1, "c", 1)).contains("never came in");
    }
}
