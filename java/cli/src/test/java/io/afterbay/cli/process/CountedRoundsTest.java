package io.afterbay.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** More of it is in {@code RoundsTest}. */
class CountedRoundsTest {
    @Test
    void aRoundIsNotRunAgainToGetRidOfAProblem() {
        OptionalDouble busy = OptionalDouble.of(MachineLoad.OTHER_CORES_MAX + 0.1);
        assertThat(CountedRounds.counts(busy, List.of())).isFalse();
        assertThat(CountedRounds.counts(busy, List.of("its rows are wrong"))).isTrue();
        assertThat(CountedRounds.counts(OptionalDouble.of(0), List.of())).isTrue();
        assertThat(CountedRounds.counts(OptionalDouble.empty(), List.of())).isTrue();
    }
}
