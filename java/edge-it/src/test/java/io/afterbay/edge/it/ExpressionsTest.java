package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.edge.it.Comparison.Case;
import io.afterbay.edge.run.PartialsMerge.Order;
import io.afterbay.testing.TestForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/** What the site's program computes is what Flink computes, to the last bit. */
class ExpressionsTest {
    private static final int REPORTS = 150;

    @Provide
    Arbitrary<List<String>> expressions() {
        return Expressions.any().list().ofSize(TestForm.EDGE_EXPRESSIONS);
    }

    @Property(tries = 1, seed = TestForm.SEED, shrinking = ShrinkingMode.OFF)
    void randomExpressions(@ForAll("expressions") List<String> expressions) throws Exception {
        compare(expressions);
    }

    @Property(tries = TestForm.EDGE_EXPRESSIONS_TRIES_LONG, shrinking = ShrinkingMode.OFF)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void manyRandomExpressions(@ForAll("expressions") List<String> expressions) throws Exception {
        compare(expressions);
    }

    private static void compare(List<String> expressions) throws Exception {
        Path directory = Files.createTempDirectory("edge-expressions-");
        Comparison comparison = new Comparison(directory);
        StringJoiner select = new StringJoiner(",\n  ", "SELECT\n  ", "\nFROM reports");
        for (int i = 0; i < expressions.size(); i++) {
            select.add(expressions.get(i) + " AS e" + i);
        }
        Reports reports = Reports.unusual(expressions.hashCode(), REPORTS);
        int number =
                comparison.add(
                        new Case(select.toString(), reports, List.of(1), Order.byWatermark()));
        comparison.run();
        assertThat(staysInTheCloud(comparison.cut(number))).containsExactly("sink");
        assertThat(comparison.rows(number)).isEqualTo(REPORTS);
        assertThat(comparison.difference(number, 0)).isNull();
    }

    /** The kinds of nodes. */
    private static List<String> staysInTheCloud(JsonNode cut) {
        return cut.path("nodes").findParents("location").stream()
                .filter(node -> node.path("location").asText().equals("cloud"))
                .map(node -> node.path("type").asText().replaceAll("stream-exec-|_[0-9]+$", ""))
                .toList();
    }
}
