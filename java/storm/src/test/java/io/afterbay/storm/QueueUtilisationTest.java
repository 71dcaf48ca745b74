package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.stragglers.ReplayBudget;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** How busy queues are, by a clock that is set by hand, and what the budget makes of it. */
class QueueUtilisationTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Offset<Double> EXACT = within(1e-9);

    private final BusyTimes times = new BusyTimes();
    private long now = 7;
    private double processors = 0.1;

    private QueueUtilisation of(String... bolts) {
        return new QueueUtilisation(times, List.of(bolts), now);
    }

    private static void work(BusyTimes.Task task, long from, long to) {
        task.begin(from);
        task.end(to);
    }

    @Test
    void itIsTheMeanOfABoltsTasksAndTheBusiestBolts() {
        BusyTimes.Task one = times.join("parse", 1);
        BusyTimes.Task two = times.join("parse", 2);
        BusyTimes.Task store = times.join("store", 3);
        QueueUtilisation utilisation = of("parse", "store");
        work(one, now, now + SECOND / 2);
        work(two, now, now + SECOND / 10);
        work(store, now, now + SECOND / 5);
        assertThat(utilisation.sinceLast(now + SECOND)).isEqualTo(0.3, EXACT);
        assertThat(utilisation.sinceLast(now + 2 * SECOND)).as("since then").isZero();
    }

    /** One of four stands still: that is what replays are for, and must not forbid them. */
    @Test
    void aTaskThatStandsStillIsAtWork() {
        BusyTimes.Task stalled = times.join("parse", 1);
        for (int id = 2; id <= 4; id++) {
            times.join("parse", id);
        }
        QueueUtilisation utilisation = of("parse");
        stalled.begin(now + SECOND / 2);
        assertThat(utilisation.sinceLast(now + SECOND)).isEqualTo(0.125, EXACT);
        assertThat(utilisation.sinceLast(now + 2 * SECOND)).isEqualTo(0.25, EXACT);
    }

    @Test
    void ofABoltThatIsNotHereNothingIsKnown() {
        BusyTimes.Task here = times.join("parse", 1);
        assertThat(of("parse", "store").sinceLast(now + SECOND)).isNaN();
        times.leave("parse", 1, here);
        assertThat(of("parse").sinceLast(now + SECOND)).isNaN();
    }

    @Test
    void theBudgetIsToldOnceASecond() {
        ReplayBudget budget = new ReplayBudget(0.2, 10);
        BusyTimes.Task task = times.join("parse", 1);
        LoadWatch watch = new LoadWatch(budget, of("parse"), () -> processors, () -> now);
        watch.lookIfDue();
        assertThat(budget.isOpen()).as("nothing is known").isFalse();
        now += SECOND;
        watch.lookIfDue();
        assertThat(budget.isOpen()).isTrue();
        work(task, now, now + SECOND * 6 / 10);
        now += SECOND;
        watch.lookIfDue();
        assertThat(budget.isOpen()).as("60 % of a queue").isFalse();
        assertThat(watch.queues()).isEqualTo(0.6, EXACT);
        processors = 0.5;
        now += SECOND - 1;
        watch.lookIfDue();
        assertThat(watch.processors()).as("not due").isEqualTo(0.1);
        now += 1;
        watch.lookIfDue();
        assertThat(budget.isOpen()).as("50 % of the processors").isFalse();
        processors = Double.NaN;
        now += SECOND;
        watch.lookIfDue();
        assertThat(budget.isOpen()).as("unknown processors").isFalse();
    }

    @Test
    void theLoadOfThisMachineIsAShareOrUnknown() {
        double share = MachineLoad.OF_THIS_MACHINE.share();
        assertThat(Double.isNaN(share) || (share >= 0 && share <= 1)).isTrue();
    }
}
