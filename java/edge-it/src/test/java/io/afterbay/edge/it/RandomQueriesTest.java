package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.it.Comparison.Case;
import io.afterbay.edge.it.Reports.Disorder;
import io.afterbay.edge.run.PartialsMerge.Order;
import io.afterbay.edge.run.WorkFiles;
import io.afterbay.testing.TestForm;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Random windowed aggregates of random expressions: in halves their rows are those of the whole.
 */
class RandomQueriesTest {
    private static final List<String> WINDOWS =
            List.of(
                    "TUMBLE(TABLE computed, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
                    "TUMBLE(TABLE computed, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '3' SECOND)",
                    "HOP(TABLE computed, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
                    "HOP(TABLE computed, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '12' SECOND)",
                    "CUMULATE(TABLE computed, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)");

    private static final List<List<Integer>> PARTITIONS =
            List.of(List.of(1), List.of(2), List.of(4), List.of(2, 2), List.of(1, 1, 1));

    /**
     * @param definitions views
     */
    record Query(String definitions, String select, List<Integer> partitions) {
        Case on(Reports reports) {
            return new Case(select, reports, partitions, Order.byWatermark()).behind(definitions);
        }
    }

    @Provide
    Arbitrary<List<Query>> queries() {
        return Combinators.combine(
                        Expressions.truth(1).optional(0.5),
                        Expressions.integer(2),
                        Arbitraries.oneOf(Expressions.text(1), Expressions.integer(1)),
                        Arbitraries.of(WINDOWS),
                        aggregate().list().ofMinSize(1).ofMaxSize(5),
                        Arbitraries.of("room", "name", "room, storey", "k", "k, ok"),
                        Arbitraries.of(PARTITIONS))
                .as(
                        (where, value, key, window, aggregates, keys, partitions) ->
                                new Query(
                                        view(
                                                where.map(t -> t + " OR storey = 0")
                                                        .orElse("storey < 2"),
                                                value,
                                                key),
                                        select(window, aggregates, keys),
                                        partitions))
                .list()
                .ofSize(TestForm.EDGE_QUERIES);
    }

    private static String view(String where, String value, String key) {
        return """
               CREATE VIEW computed AS SELECT *, %s AS v, %s AS k FROM reports WHERE %s;
               """
                .formatted(value, key, where);
    }

    private static String select(String window, List<String> aggregates, String keys) {
        StringJoiner columns = new StringJoiner(", ");
        for (int i = 0; i < aggregates.size(); i++) {
            columns.add(aggregates.get(i) + " AS a" + i);
        }
        return "SELECT %s, window_start, window_end, %s FROM TABLE(%s) GROUP BY %s, window_start, window_end"
                .formatted(keys, columns, window, keys);
    }

    private static Arbitrary<String> aggregate() {
        Arbitrary<String> call =
                Arbitraries.oneOf(
                        Arbitraries.of("COUNT(*)", "AVG(x)", "SUM(x)", "SUM(price)", "AVG(price)"),
                        Combinators.combine(
                                        Arbitraries.of("SUM", "MIN", "MAX", "COUNT", "AVG"),
                                        Arbitraries.of("n", "big", "v", "storey"))
                                .as((function, column) -> function + "(" + column + ")"),
                        Combinators.combine(
                                        Arbitraries.of("MIN", "MAX", "COUNT"),
                                        Arbitraries.of("name", "x", "price", "ok", "ts"))
                                .as((function, column) -> function + "(" + column + ")"));
        return Combinators.combine(
                        call, Arbitraries.of("", "", " FILTER (WHERE ok)", " FILTER (WHERE n > 0)"))
                .as((aggregate, filter) -> aggregate + filter);
    }

    @Property(tries = 1, seed = TestForm.SEED, shrinking = ShrinkingMode.OFF)
    void randomQueries(@ForAll("queries") List<Query> queries) throws Exception {
        compare(queries);
    }

    @Property(tries = TestForm.EDGE_QUERIES_TRIES_LONG, shrinking = ShrinkingMode.OFF)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void manyRandomQueries(@ForAll("queries") List<Query> queries) throws Exception {
        compare(queries);
    }

    private static void compare(List<Query> queries) throws Exception {
        try (WorkFiles work = new WorkFiles()) {
            compare(new Comparison(work.directory()), queries);
        }
    }

    private static void compare(Comparison comparison, List<Query> queries) throws Exception {
        List<Integer> numbers = new ArrayList<>();
        List<Integer> ofOneSite = new ArrayList<>();
        for (Query query : queries) {
            int sites = query.partitions.stream().mapToInt(Integer::intValue).sum();
            // What is late at several partitions depends on which of them Flink reads first.
            Disorder disorder =
                    sites == 1
                            ? Disorder.ANY
                            : query.partitions.size() == 1
                                    ? Disorder.HOPELESS
                                    : Disorder.WITHIN_DELAY;
            Reports reports = Reports.random(query.hashCode(), 400, sites, disorder);
            numbers.add(comparison.add(query.on(reports)));
            if (sites == 1) {
                // What is late at its site is late, whatever others see: with one site, there are
                // no others.
                ofOneSite.add(comparison.add(query.on(reports.withRooms(true)).withLocal("room")));
            }
        }
        comparison.run();
        int rows = 0;
        int partial = 0;
        for (int number : numbers) {
            assertThat(comparison.difference(number)).isNull();
            rows += comparison.rows(number);
            partial += comparison.sent(number).equals("partial") ? 1 : 0;
        }
        int whole = 0;
        for (int number : ofOneSite) {
            assertThat(comparison.difference(number)).isNull();
            whole += comparison.sent(number).equals("final") ? 1 : 0;
        }
        assertThat(whole).isPositive();
        assertThat(rows).isGreaterThan(queries.size() * 20);
        assertThat(partial).isGreaterThan(queries.size() / 2);
    }
}
