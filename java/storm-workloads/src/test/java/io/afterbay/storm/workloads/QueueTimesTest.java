package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerReport;
import io.afterbay.handover.stragglers.StragglerTopology;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QueueTimesTest {
    private static final long MS = 1_000_000;

    private static StragglerPlan plan(String technique) {
        return new StragglerPlan(
                new StragglerPlan.Senders(
                        technique, StragglerPlan.Grouping.SHUFFLE, true, 64, 0, false),
                StragglerTopology.row(1, 1, 2),
                new StragglerPlan.Load(200, StragglerPlan.Service.FIXED, 1, 1, 0),
                1,
                1,
                1,
                1);
    }

    /** Warm-up and recovery would be 100 times as long. */
    @Test
    void tuplesThatDoNotCountAreInNoMean() {
        StragglerPlan plan = plan("shared");
        Schedule schedule = new Schedule(plan);
        QueueTimes times = new QueueTimes(plan, schedule);
        for (int number = 0; number < schedule.tuples(); number++) {
            long unit = plan.counts(schedule.dueS(number)) ? MS : 100 * MS;
            times.held(number, unit);
            times.waited(number, (number % 2 == 0 ? 2 : 4) * unit);
            times.served(number, 7 * unit);
        }
        long counted =
                IntStream.range(0, schedule.tuples())
                        .filter(number -> plan.counts(schedule.dueS(number)))
                        .count();
        StragglerReport.Queueing found = Objects.requireNonNull(times.figures());
        assertThat(found.waits()).isEqualTo(counted).isBetween(1L, schedule.tuples() - 2L);
        assertThat(found.heldMs()).isEqualTo(1);
        assertThat(found.waitMs()).isBetween(2.9, 3.1);
        assertThat(found.serviceMs()).isEqualTo(7);
    }

    @Test
    void withReplaysNobodyKnows() {
        StragglerPlan plan = plan("replay");
        QueueTimes times = new QueueTimes(plan, new Schedule(plan));
        times.waited(250, MS);
        assertThat(times.figures()).isNull();
    }
}
