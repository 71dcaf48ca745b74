package io.afterbay.flink.it;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.it.job.Journal;
import io.afterbay.flink.it.job.LedgerReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Negative control: what the cluster tests compare with finds the faults it is there for. */
class MultisetTest {
    private static final List<String> REFERENCE = LedgerReference.lines(new Journal(4, 500));

    @Test
    void ignoresOrder() {
        List<String> shuffled = new ArrayList<>(REFERENCE);
        Collections.shuffle(shuffled, new Random(1));

        assertThatCode(() -> Multiset.assertEqual(REFERENCE, shuffled)).doesNotThrowAnyException();
    }

    @Test
    void findsOneMissingLine() {
        List<String> lines = new ArrayList<>(REFERENCE);
        String lost = lines.remove(lines.size() / 2);

        assertThatThrownBy(() -> Multiset.assertEqual(REFERENCE, lines))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("missing 1 times: " + lost);
    }

    @Test
    void findsOneDoubledLine() {
        List<String> lines = new ArrayList<>(REFERENCE);
        lines.add(lines.get(7));

        assertThatThrownBy(() -> Multiset.assertEqual(REFERENCE, lines))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("too many 1 times: " + lines.get(7));
    }

    @Test
    void findsALineThatReplacesAnother() {
        List<String> lines = new ArrayList<>(REFERENCE);
        lines.set(3, lines.get(4));

        assertThatThrownBy(() -> Multiset.assertEqual(REFERENCE, lines))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("2 differ");
    }

    @Test
    void linesOfTheReferenceAreDistinctAndOfEveryKind() {
        assertThatCode(
                        () ->
                                Multiset.assertEqual(
                                        REFERENCE, REFERENCE.stream().distinct().toList()))
                .doesNotThrowAnyException();
        for (String kind : List.of("sum,", "list,", "session,", "account,")) {
            assertThatCode(() -> REFERENCE.stream().filter(l -> l.startsWith(kind)).findAny().get())
                    .doesNotThrowAnyException();
        }
    }
}
