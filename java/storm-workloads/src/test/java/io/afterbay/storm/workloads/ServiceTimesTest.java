package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.handover.stragglers.StragglerPlan.Load;
import io.afterbay.handover.stragglers.StragglerPlan.Service;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ServiceTimesTest {
    private static final long SECOND = 1_000_000_000;
    private static final long MILLI = 1_000_000;

    private static ServiceTimes of(Service service) {
        return new ServiceTimes(new Load(1, service, 2, 3, 0), 5);
    }

    @Test
    void aFixedTimeIsAlwaysTheSameAndLongerForASlowTask() {
        assertThat(of(Service.FIXED).nextNanos(0, false)).isEqualTo(2 * MILLI);
        assertThat(of(Service.FIXED).nextNanos(0, true)).isEqualTo(6 * MILLI);
    }

    @Test
    void exponentialTimesHaveTheMean() {
        ServiceTimes times = of(Service.EXPONENTIAL);
        double sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += times.nextNanos(i * SECOND, false);
        }
        assertThat(sum / 10_000 / MILLI).isCloseTo(2, within(0.1));
    }

    /** Of a task that gets a tuple each 10 ms for 10,000 s. */
    @Test
    void pausesComeNowAndThenAndEndAsTheyShould() {
        ServiceTimes times = of(Service.PAUSES);
        int pauses = 0;
        double longest = 0;
        for (long now = 0; now < 10_000 * SECOND; now += 10 * MILLI) {
            double ms = (double) times.nextNanos(now, false) / MILLI;
            longest = Math.max(longest, ms);
            pauses += ms > 80 ? 1 : 0;
        }
        assertThat(pauses).isBetween(900, 1_100);
        assertThat(longest).isBetween(95.0, 250.0);
    }

    /** The first pauses of tasks whose seeds follow each other. */
    @Test
    void tasksDoNotStandStillAtTheSameTime() {
        List<Integer> seconds =
                IntStream.range(0, 100).map(ServiceTimesTest::firstPauseS).boxed().toList();
        assertThat(new HashSet<>(seconds)).hasSizeGreaterThan(15);
        assertThat(seconds.stream().filter(second -> second < 10).count()).isBetween(40L, 85L);
    }

    private static int firstPauseS(int seed) {
        ServiceTimes times = new ServiceTimes(new Load(1, Service.PAUSES, 0.001, 3, 0), seed);
        long now = 0;
        while (times.nextNanos(now, false) < 50 * MILLI) {
            now += 10 * MILLI;
        }
        return (int) (now / SECOND);
    }

    /** Nobody is there to stand still while there is nothing to do. */
    @Test
    void aPauseThatIsOverHoldsNobodyUp() {
        ServiceTimes times = of(Service.PAUSES);
        double sum = 0;
        for (int i = 1; i <= 1_000; i++) {
            sum += times.nextNanos(i * 1_000 * SECOND, false);
        }
        assertThat(sum / 1_000 / MILLI).isBetween(1.5, 6.0);
    }
}
