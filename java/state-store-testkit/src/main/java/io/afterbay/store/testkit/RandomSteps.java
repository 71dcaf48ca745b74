package io.afterbay.store.testkit;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;

/** Generates the steps of random runs. */
final class RandomSteps {
    private RandomSteps() {}

    /** Lists of up to {@code lengthMax} steps of all kinds but some. */
    static Arbitrary<List<Step>> listsWithout(Set<Step.Kind> excluded, int lengthMax) {
        return Combinators.combine(
                        kindsWithout(excluded),
                        Arbitraries.integers().between(0, 30_000),
                        sizes(),
                        Arbitraries.integers().between(0, 100_000))
                .as(Step::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(lengthMax)
                .withSizeDistribution(RandomDistribution.uniform()); // short runs never spill
    }

    private static Arbitrary<Step.Kind> kindsWithout(Set<Step.Kind> excluded) {
        return Arbitraries.frequency(
                Arrays.stream(Step.Kind.values())
                        .filter(kind -> !excluded.contains(kind))
                        .map(kind -> Tuple.of(kind.weight, kind))
                        .toList());
    }

    /** Bytes: mostly small ones, some of several pages. */
    private static Arbitrary<Integer> sizes() {
        return Arbitraries.frequencyOf(
                Tuple.of(6, Arbitraries.just(0)),
                Tuple.of(60, Arbitraries.integers().between(1, 60)),
                Tuple.of(20, Arbitraries.integers().between(61, 700)),
                Tuple.of(10, Arbitraries.integers().between(701, 9000)),
                Tuple.of(4, Arbitraries.integers().between(9001, 70_000)),
                Tuple.of(1, Arbitraries.integers().between(100_000, 300_000)));
    }
}
