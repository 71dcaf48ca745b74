package io.afterbay.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Run;
import io.afterbay.cli.measure.Phase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OutputsTest {
    private static Findings findings(String backend, int pair, Map<String, String> rows) {
        return new Findings(Run.none(backend, pair), null, rows);
    }

    @Test
    void equalRowsOfTwoBackendsAreEqual() {
        Outputs outputs =
                new Outputs(
                        List.of(
                                findings("a", 1, Map.of(Phase.CLOSED_LOOP, "x")),
                                findings("b", 1, Map.of(Phase.CLOSED_LOOP, "x"))));
        assertThat(outputs.areEqual()).isTrue();
        assertThat(outputs.differences()).isEmpty();
    }

    @Test
    void oneBackendAloneIsNoComparison() {
        Outputs outputs =
                new Outputs(
                        List.of(
                                findings("a", 1, Map.of(Phase.CLOSED_LOOP, "x")),
                                findings("a", 2, Map.of(Phase.CLOSED_LOOP, "x")),
                                findings("b", 1, Map.of())));
        assertThat(outputs.areEqual()).isNull();
    }

    @Test
    void aBackendThatDiffersInOnePhaseOfOneRunIsNamed() {
        Outputs outputs =
                new Outputs(
                        List.of(
                                findings("a", 1, Map.of(Phase.OPEN_LOOP, "x")),
                                findings("b", 1, Map.of(Phase.OPEN_LOOP, "x")),
                                findings("a", 2, Map.of(Phase.OPEN_LOOP, "y")),
                                findings("b", 2, Map.of(Phase.OPEN_LOOP, "x"))));
        assertThat(outputs.areEqual()).isFalse();
        assertThat(outputs.differences()).containsExactly("open loop: a, b gave x; a gave y");
    }
}
