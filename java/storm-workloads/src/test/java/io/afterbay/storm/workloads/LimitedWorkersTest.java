package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.INTEGER;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerPlan.Grouping;
import io.afterbay.handover.stragglers.StragglerPlan.Load;
import io.afterbay.handover.stragglers.StragglerPlan.Senders;
import io.afterbay.handover.stragglers.StragglerPlan.Service;
import io.afterbay.handover.stragglers.StragglerReport;
import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Limit;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** On real Storm in this process, with cgroups of this machine. */
class LimitedWorkersTest extends EmbeddedStormSuite {
    /** A source, two tasks, and at least one thread of the queue that they share. */
    private static final int THREADS_OF_A_WORKER = 4;

    private static StragglerPlan plan(StragglerTopology topology) {
        return new StragglerPlan(
                new Senders("shared", Grouping.LOAD_AWARE, true, 32768, 0, false),
                topology,
                new Load(200, Service.EXPONENTIAL, 1, 1, 0),
                0.5,
                2,
                0.5,
                1);
    }

    /** The first worker has a compressor beside. */
    @Test
    void workersInCgroupsAckEachTupleOnce() throws Exception {
        CpuGroupTest.open(0, 50).close(); // or this is not run
        StragglerPlan plan =
                plan(
                        StragglerTopology.row(3, 1, 6)
                                .limitedTo(
                                        List.of(
                                                new Limit(50, true),
                                                new Limit(50, false),
                                                new Limit(50, false))));
        AtomicReference<List<Integer>> threads = new AtomicReference<>(List.of());
        StragglerReport report =
                new TrialRun(plan).run(storm(), log -> threads.set(log.limited().threads()));
        TrialRunTest.check(plan, report);
        assertThat(threads.get())
                .hasSize(3)
                .allMatch(count -> count >= THREADS_OF_A_WORKER)
                .first(INTEGER)
                .isGreaterThan(THREADS_OF_A_WORKER);
    }

    /** The kernel takes no limit of nothing, and none at all from a user who may not set it. */
    @Test
    void limitsThatCannotBeSetEndTheRunWithTheReason() throws Exception {
        StragglerPlan plan =
                plan(StragglerTopology.row(1, 1, 2).limitedTo(List.of(new Limit(0, false))));
        StragglerReport report = new TrialRun(plan).run(storm(), log -> {});
        assertThat(report.problem()).startsWith("the processor time of workers cannot be limited");
    }
}
