package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.edge.it.Comparison.Case;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.run.PartialsMerge.Order;
import io.afterbay.edge.run.WorkFiles;
import io.afterbay.testing.TestForm;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /**
     * A twentieth: the generator knows what runs at a site, the planner makes other things of it.
     */
    private static final int REFUSED_MAX = TestForm.EDGE_EXPRESSIONS / 20;

    private static final Pattern PLACE = Pattern.compile("^projection\\[([0-9]+)]");

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

    /** Without those that the program refuses, with whatever they are made of; that is allowed. */
    private static void compare(List<String> random) throws Exception {
        List<String> expressions = new ArrayList<>(random);
        int refused = dropRefused(expressions);
        assertThat(refused).isLessThanOrEqualTo(REFUSED_MAX);
        Reports reports = Reports.unusual(random.hashCode(), REPORTS);
        try (WorkFiles work = new WorkFiles()) {
            Comparison comparison = new Comparison(work.directory());
            int number =
                    comparison.add(
                            new Case(
                                    select(expressions), reports, List.of(1), Order.byWatermark()));
            comparison.run();
            assertThat(comparison.rows(number)).isEqualTo(REPORTS);
            assertThat(comparison.difference(number, 0)).isNull();
        }
    }

    private static int dropRefused(List<String> expressions) throws Exception {
        for (int dropped = 0; ; dropped++) {
            PlanJson plan = PlanMaker.plan("query", Reports.TABLE + select(expressions)).plan();
            String reason;
            try (WorkFiles work = new WorkFiles()) {
                reason = refusal(Programs.edge().cut(plan, work.directory()).report());
            }
            if (reason == null) {
                return dropped;
            }
            Matcher place = PLACE.matcher(reason);
            assertThat(place.find()).as(reason).isTrue();
            expressions.remove(Integer.parseInt(place.group(1)));
        }
    }

    private static String select(List<String> expressions) {
        StringJoiner select = new StringJoiner(",\n  ", "SELECT\n  ", "\nFROM reports");
        for (int i = 0; i < expressions.size(); i++) {
            select.add(expressions.get(i) + " AS e" + i);
        }
        return select.toString();
    }

    /** Why the expressions are not computed at the site; null if they are. */
    private static String refusal(JsonNode cut) {
        for (JsonNode node : cut.path("nodes")) {
            if (node.path("type").asText().contains("-calc_")) {
                return node.path("why").isNull() ? null : node.path("why").asText();
            }
        }
        throw new AssertionError("no expression is computed: " + cut);
    }
}
