package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.storm.workloads.Instances.Id;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Blind replication. */
class InstancesTest {
    private static Instances replicating(double share, long seed) {
        return new Instances(
                new StragglerPlan(
                        new StragglerPlan.Senders(
                                "none", StragglerPlan.Grouping.SHUFFLE, true, 64, share, false),
                        null,
                        null,
                        1,
                        1,
                        1,
                        seed));
    }

    private static Id first(int number) {
        return new Id(number, false);
    }

    private static Id second(int number) {
        return new Id(number, true);
    }

    private static boolean[] chosen(double share, long seed) {
        Instances instances = replicating(share, seed);
        boolean[] chosen = new boolean[10_000];
        IntStream.range(0, chosen.length).forEach(i -> chosen[i] = instances.replicates(i));
        return chosen;
    }

    private static long count(boolean[] chosen) {
        return IntStream.range(0, chosen.length).filter(i -> chosen[i]).count();
    }

    @Test
    void theShareIsChosenAndTheSameForTheSameSeed() {
        assertThat(count(chosen(0, 1))).isZero();
        assertThat(count(chosen(0.2, 1))).isBetween(1_800L, 2_200L);
        assertThat(count(chosen(1, 1))).isEqualTo(10_000);
        assertThat(chosen(0.5, 1)).isEqualTo(chosen(0.5, 1));
        assertThat(chosen(0.5, 1)).isNotEqualTo(chosen(0.5, 2));
    }

    @Test
    void theFirstAckOfTheTwoCounts() {
        Instances instances = replicating(1, 1);
        instances.replicates(7);
        assertThat(instances.acked(second(7))).isTrue();
        assertThat(instances.acked(first(7))).isFalse();
    }

    /** What Storm would do wrong is to be seen. */
    @Test
    void eachAckOfATupleThatWasSentOnceCounts() {
        Instances instances = replicating(0, 1);
        instances.replicates(7);
        assertThat(instances.acked(first(7))).isTrue();
        assertThat(instances.acked(first(7))).isTrue();
        assertThat(instances.failed(first(7))).isTrue();
    }

    @Test
    void aTupleHasFailedWhenBothHave() {
        Instances instances = replicating(1, 1);
        instances.replicates(7);
        instances.replicates(8);
        assertThat(instances.failed(first(7))).isFalse();
        assertThat(instances.failed(second(7))).isTrue();
        assertThat(instances.failed(second(8))).isFalse();
        assertThat(instances.acked(first(8))).isTrue();
    }

    @Test
    void aTupleThatWasAckedDoesNotFail() {
        Instances instances = replicating(1, 1);
        instances.replicates(7);
        assertThat(instances.acked(first(7))).isTrue();
        assertThat(instances.failed(second(7))).isFalse();
    }
}
