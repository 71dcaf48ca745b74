package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerPlan.Grouping;
import io.afterbay.handover.stragglers.StragglerPlan.Load;
import io.afterbay.handover.stragglers.StragglerPlan.Senders;
import io.afterbay.handover.stragglers.StragglerPlan.Service;
import io.afterbay.handover.stragglers.StragglerReport;
import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Machine;
import io.afterbay.handover.stragglers.StragglerTopology.Stage;
import io.afterbay.testing.LongForm;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.storm.Config;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** On real Storm in this process. Tuples are counted; no time is asserted. */
class TrialRunTest extends EmbeddedStormSuite {
    private static final int TASKS = 5;

    private static StragglerPlan plan(String technique, Grouping grouping, int stages) {
        return plan(
                new Senders(technique, grouping, true, 32768, 0, false),
                StragglerTopology.row(1, stages, TASKS));
    }

    /** An even share is more than the slow task can do. */
    private static StragglerPlan plan(Senders senders, StragglerTopology topology) {
        return plan(senders, new Load(500, Service.EXPONENTIAL, 1, 8, 0), topology);
    }

    private static StragglerPlan plan(Senders senders, Load load, StragglerTopology topology) {
        return new StragglerPlan(senders, topology, load, 0.5, 2, 0.5, 1);
    }

    private StragglerReport run(StragglerPlan plan) throws Exception {
        StragglerReport report = new TrialRun(plan).run(storm(), log -> {});
        check(plan, report);
        return report;
    }

    /** Each tuple was acked once, and what is counted fits together. */
    static void check(StragglerPlan plan, StragglerReport report) {
        assertThat(report.problem()).isNull();
        StragglerReport.Acks acks = Objects.requireNonNull(report.acks());
        assertThat(acks.tuples()).isEqualTo(new Schedule(plan).tuples());
        assertThat(acks.acked()).isEqualTo(acks.tuples());
        assertThat(acks.ackedTwice()).isZero();
        assertThat(acks.failed()).isZero();
        StragglerReport.Repeats repeats = repeats(report);
        assertThat(repeats.extraWork())
                .isCloseTo((double) repeats.sent() / acks.tuples(), within(1e-9));
        assertThat(repeats.won()).isBetween(0L, repeats.sent());
        StragglerReport.Tasks tasks = tasks(report);
        assertThat(sum(tasks.bySecond())).isEqualTo(acks.tuples() + repeats.sent());
        if (plan.senders().technique().equals("replay")) {
            assertThat(report.queueing()).as("a second instance does not say it").isNull();
        } else {
            assertThat(queueing(report).waits())
                    .as("of each tuple that counts, at each bolt")
                    .isEqualTo(tasks.executed().stream().mapToLong(TrialRunTest::sum).sum());
        }
    }

    /** Of runs in which each tuple is sent once. */
    private StragglerReport runOnce(StragglerPlan plan) throws Exception {
        StragglerReport report = run(plan);
        StragglerReport.Tasks tasks = tasks(report);
        assertThat(repeats(report).sent()).isZero();
        long counted = sum(tasks.executed().get(0));
        assertThat(counted).isBetween(1L, sum(tasks.bySecond()) - 1);
        assertThat(tasks.executed()).allSatisfy(stage -> assertThat(sum(stage)).isEqualTo(counted));
        return report;
    }

    private static StragglerReport.Queueing queueing(StragglerReport report) {
        return Objects.requireNonNull(report.queueing());
    }

    private static StragglerReport.Repeats repeats(StragglerReport report) {
        return Objects.requireNonNull(report.repeats());
    }

    private static StragglerReport.Tasks tasks(StragglerReport report) {
        return Objects.requireNonNull(report.tasks());
    }

    private static long sum(List<Long> counts) {
        return counts.stream().mapToLong(Long::longValue).sum();
    }

    private static double shareOfSlowTask(StragglerReport report) {
        List<Long> first = tasks(report).executed().get(0);
        return (double) first.get(0) / sum(first);
    }

    /** The control: what techniques are for, and what counts as none. */
    @Test
    @LongForm
    void stormGivesASlowTaskAsMuchAsTheOthersAndMovesNothing() throws Exception {
        StragglerReport report = runOnce(plan("none", Grouping.LOAD_AWARE, 1));
        assertThat(shareOfSlowTask(report)).isBetween(0.15, 0.25);
        assertThat(tasks(report).moved()).isZero();
    }

    @Test
    @LongForm
    void balancedItGetsLittle() throws Exception {
        StragglerReport report = runOnce(plan("balanced", Grouping.LOAD_AWARE, 2));
        assertThat(shareOfSlowTask(report)).isBetween(0.0001, 0.12);
        assertThat(tasks(report).moved()).isZero();
        assertThat(Objects.requireNonNull(report.latency()).p999Ms()).isPositive();
    }

    @Test
    @LongForm
    void sharedOthersDoWhatWasSentToIt() throws Exception {
        StragglerReport report = runOnce(plan("shared", Grouping.LOAD_AWARE, 1));
        assertThat(shareOfSlowTask(report)).isBetween(0.0001, 0.15);
        assertThat(tasks(report).moved()).isGreaterThan(0.1);
    }

    /**
     * Whatever else this machine does: how busy it is does not count here. What waits for the slow
     * task outgrows any timeout that was learned while the machine stood still for a moment.
     */
    @Test
    void lateTuplesAreReplayedWithinTheBudget() throws Exception {
        Senders senders = new Senders("replay", Grouping.LOAD_AWARE, true, 32768, 0, true);
        Load load = new Load(500, Service.EXPONENTIAL, 1, 30, 0);
        StragglerReport report = run(plan(senders, load, StragglerTopology.row(2, 2, TASKS)));
        long tuples = Objects.requireNonNull(report.acks()).tuples();
        assertThat(repeats(report).sent()).isBetween(1L, tuples / 50 + 2 * 10);
        assertThat(repeats(report).budgetClosed()).isZero();
        assertThat(tasks(report).moved()).isNull();
    }

    @Test
    void halfOfTheTuplesAreSentTwice() throws Exception {
        Senders senders = new Senders("none", Grouping.LOAD_AWARE, true, 32768, 0.5, false);
        StragglerReport report = run(plan(senders, StragglerTopology.row(1, 1, TASKS)));
        assertThat(repeats(report).extraWork()).isBetween(0.45, 0.55);
        assertThat(repeats(report).won()).isPositive();
        assertThat(repeats(report).budgetClosed()).isNull();
    }

    /** Two ways part behind the first operator and meet at the last. */
    @Test
    void whereTwoWaysMeetEachTupleIsDoneTwice() throws Exception {
        StragglerTopology topology =
                new StragglerTopology(
                        2,
                        List.of(
                                new Stage("first", 2, List.of(StragglerTopology.SOURCE)),
                                new Stage("left", 3, List.of(0)),
                                new Stage("right", 3, List.of(0)),
                                new Stage("last", 4, List.of(1, 2))),
                        1,
                        List.of(),
                        List.of());
        Senders senders = new Senders("none", Grouping.LOAD_AWARE, true, 32768, 0, false);
        StragglerPlan plan = plan(senders, new Load(300, Service.EXPONENTIAL, 1, 1, 0), topology);
        StragglerReport report = run(plan);
        List<List<Long>> executed = tasks(report).executed();
        long counted = sum(executed.get(0));
        assertThat(counted).isPositive();
        assertThat(executed)
                .extracting(TrialRunTest::sum)
                .containsExactly(counted, counted, counted, 2 * counted);
        assertThat(executed).extracting(List::size).containsExactly(2, 3, 3, 4);
        assertThat(tasks(report).moved()).isZero();
    }

    /** Storm fills the tasks in the sender's worker first, and these here are never full. */
    @ParameterizedTest
    @CsvSource({"true, 2", "false, 4"})
    void localityLeavesTasksOfOtherWorkersIdle(boolean prefersOwnWorker, int tasksAtWork)
            throws Exception {
        Senders senders =
                new Senders("none", Grouping.LOAD_AWARE, prefersOwnWorker, 32768, 0, false);
        StragglerReport report =
                runOnce(
                        plan(
                                senders,
                                new Load(200, Service.FIXED, 1, 1, 0),
                                StragglerTopology.row(1, 1, 4).in(2)));
        assertThat(tasks(report).executed().get(0).stream().filter(count -> count > 0))
                .hasSize(tasksAtWork);
    }

    /**
     * Twice as much comes as the task can do, and its queue has room for 64. The source is in the
     * other worker and has to hear of that: Storm drops what comes for a full queue when {@code
     * overflow.limit} tuples wait beside it, so a tuple would never be acked. What is on the way
     * when the source hears is bounded by the buffers between the two.
     */
    @Test
    void fullQueuesHoldUpSendersInOtherWorkers() throws Exception {
        Senders senders = new Senders("none", Grouping.LOAD_AWARE, false, 64, 0, false);
        StragglerPlan plan =
                plan(
                        senders,
                        new Load(1000, Service.FIXED, 2, 1, 0),
                        StragglerTopology.row(1, 1, 1).in(2));
        Map<String, Object> shortQueues =
                Map.of(
                        Config.TOPOLOGY_TRANSFER_BUFFER_SIZE,
                        64,
                        Config.TOPOLOGY_EXECUTOR_OVERFLOW_LIMIT,
                        256);
        StragglerReport report = new TrialRun(plan, shortQueues).run(storm(), log -> {});
        check(plan, report);
    }

    /** Each worker has one machine of the three, and its source's tuples stay in it. */
    @Test
    void workersOnMachinesOfTheirOwnAckEachTupleOnce() throws Exception {
        Senders senders = new Senders("none", Grouping.LOAD_AWARE, true, 32768, 0, false);
        List<Machine> machines = List.of(new Machine(1, 1), new Machine(1, 0), new Machine(2, 0));
        StragglerPlan plan =
                plan(
                        senders,
                        new Load(200, Service.EXPONENTIAL, 1, 1, 0.1),
                        StragglerTopology.row(3, 2, 3).on(machines));
        AtomicInteger inUse = new AtomicInteger();
        StragglerReport report =
                new TrialRun(plan).run(storm(), log -> inUse.set(log.machinesInUse()));
        check(plan, report);
        assertThat(inUse).hasValue(3);
        assertThat(tasks(report).executed())
                .allSatisfy(stage -> assertThat(stage).allMatch(count -> count > 0));
    }

    /** Round robin never knows, and these two within less than their periods do not. */
    @ParameterizedTest
    @LongForm
    @EnumSource(
            value = Grouping.class,
            names = {"SHUFFLE", "LATENCY_BALANCE", "JITTER"})
    void baselinesThatHearNothingOrLateShareEvenlyAtFirst(Grouping grouping) throws Exception {
        StragglerReport report = runOnce(plan("none", grouping, 2));
        assertThat(shareOfSlowTask(report)).isBetween(0.12, 0.28);
        assertThat(tasks(report).moved()).isZero();
    }

    /**
     * More comes than two tasks can do. Nobody can begin tuples earlier than these two would if
     * each took the next as soon as it is free, so their mean time until then is a bound, however
     * busy this machine is. With a shared queue Storm's thread is done with a tuple at once, and
     * the bolt begins it when its turn comes.
     */
    @ParameterizedTest
    @CsvSource({"none, SHUFFLE", "shared, LOAD_AWARE"})
    void whatWaitsIsMeasuredUntilTheBoltBeginsIt(String technique, Grouping grouping)
            throws Exception {
        double serviceMs = 10;
        StragglerPlan plan =
                new StragglerPlan(
                        new Senders(technique, grouping, true, 32768, 0, false),
                        StragglerTopology.row(1, 1, 2),
                        new Load(300, Service.FIXED, serviceMs, 1, 0),
                        0,
                        1.5,
                        0,
                        1);
        StragglerReport report = new TrialRun(plan).run(storm(), log -> {});
        check(plan, report);
        double boundMs = waitOfTwoMs(new Schedule(plan), serviceMs);
        assertThat(boundMs).isGreaterThan(100);
        StragglerReport.Queueing queueing = queueing(report);
        assertThat(queueing.heldMs()).isNotNegative();
        assertThat(queueing.heldMs() + queueing.waitMs()).isGreaterThanOrEqualTo(boundMs);
        assertThat(queueing.waitMs()).isLessThanOrEqualTo(latency(report).maxMs());
        assertThat(queueing.serviceMs()).isGreaterThanOrEqualTo(serviceMs);
    }

    private static StragglerReport.Latency latency(StragglerReport report) {
        return Objects.requireNonNull(report.latency());
    }

    /** From when tuples are due until the first of two that is free begins them, on average. */
    private static double waitOfTwoMs(Schedule schedule, double serviceMs) {
        double[] freeMs = new double[2];
        double waits = 0;
        for (int number = 0; number < schedule.tuples(); number++) {
            double dueMs = schedule.dueS(number) * 1000;
            int first = freeMs[0] <= freeMs[1] ? 0 : 1;
            double beginMs = Math.max(dueMs, freeMs[first]);
            freeMs[first] = beginMs + serviceMs;
            waits += beginMs - dueMs;
        }
        return waits / schedule.tuples();
    }

    @Test
    void aTechniqueThatIsNoneIsRefused() {
        StragglerPlan plan = plan("magic", Grouping.SHUFFLE, 1);
        assertThatThrownBy(() -> TrialTopology.of("none", plan, Map.of()))
                .hasMessageContaining("technique 'magic' is none of [none, shared, balanced");
    }

    @Test
    void tuplesComeAtTheRateInOrderAndAsOftenAsTheyCome() {
        StragglerPlan plan = plan("none", Grouping.SHUFFLE, 1);
        Schedule schedule = new Schedule(plan);
        // A mean of 1,500 with a standard deviation of 39.
        assertThat(schedule.tuples()).isBetween(1300, 1700);
        for (int number = 1; number < schedule.tuples(); number++) {
            assertThat(schedule.dueNanos(number))
                    .isGreaterThanOrEqualTo(schedule.dueNanos(number - 1));
        }
        assertThat(schedule.dueS(schedule.tuples() - 1)).isLessThan(plan.endS());
        assertThat(new Schedule(plan).dueNanos(700)).isEqualTo(schedule.dueNanos(700));
    }
}
