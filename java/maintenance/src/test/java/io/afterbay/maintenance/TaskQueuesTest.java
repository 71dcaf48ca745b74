package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TaskQueuesTest {
    private static MaintenanceSettings limits(int threads, int deferrable, long deadline) {
        return new MaintenanceSettings(threads, deferrable, 0, 0, deadline);
    }

    private static List<Integer> instances(Simulation simulation) {
        return simulation.starts.stream().map(Simulation.Start::instance).toList();
    }

    private static List<Kind> kinds(Simulation simulation) {
        return simulation.starts.stream().map(Simulation.Start::kind).toList();
    }

    @Test
    void flushesGoFirst() {
        Simulation simulation = new Simulation(limits(1, 1, 1000), 2);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.submit(1, Kind.FLUSH, 10);
        simulation.submit(0, Kind.FLUSH, 10);
        simulation.run();
        assertThat(kinds(simulation))
                .containsExactly(Kind.FLUSH, Kind.FLUSH, Kind.COMPACTION, Kind.COMPACTION);
    }

    @Test
    void aGreedyInstanceStarvesNobody() {
        Simulation simulation = new Simulation(limits(1, 1, 1_000_000), 3);
        for (int i = 0; i < 100; i++) {
            simulation.submit(0, Kind.COMPACTION, 10);
        }
        simulation.submit(1, Kind.COMPACTION, 10);
        simulation.submit(2, Kind.COMPACTION, 10);
        simulation.submit(2, Kind.COMPACTION, 10);
        simulation.run();
        assertThat(instances(simulation)).startsWith(0, 1, 2, 0, 2, 0, 0).hasSize(103);
    }

    @Test
    void greedyFlushesStarveNobodyEither() {
        Simulation simulation = new Simulation(limits(1, 1, 1_000_000), 2);
        for (int i = 0; i < 100; i++) {
            simulation.submit(0, Kind.FLUSH, 10);
        }
        simulation.submit(1, Kind.FLUSH, 10);
        simulation.run();
        assertThat(instances(simulation)).startsWith(0, 1, 0);
    }

    @Test
    void tasksOfAnInstanceBeginInOrder() {
        Simulation simulation = new Simulation(limits(4, 1, 1_000_000), 1);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.submit(0, Kind.COMPACTION, 20);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.run();
        assertThat(simulation.starts.stream().map(Simulation.Start::nanos))
                .containsExactly(0L, 10L, 30L);
    }

    @Test
    void theDeadlineEndsAPauseThatNobodyEnds() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 3, 0, 500, 1000), 2);
        simulation.checkpointBegan(0);
        simulation.at(400, () -> simulation.submit(0, Kind.COMPACTION, 10));
        simulation.submit(1, Kind.COMPACTION, 10);
        simulation.run();
        // The gate gives up after 1000, too, so the later task does not wait for its own deadline.
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(1000L, 1000L);
        assertThat(simulation.queues.metrics(simulation.now).stalls()).isEqualTo(1);
    }

    @Test
    void theDeadlineHoldsThroughBurstsWithoutEnd() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 3, 400, 500, 1000), 8);
        for (int i = 0; i < 100; i++) {
            simulation.at(i * 100L, () -> simulation.checkpointBegan(0));
            simulation.at(i * 100L + 150, () -> simulation.checkpointEnded(0));
        }
        for (int i = 0; i < 8; i++) {
            int instance = i;
            simulation.at(50 + i, () -> simulation.submit(instance, Kind.COMPACTION, 10));
        }
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION))
                .hasSize(8)
                .allSatisfy(nanos -> assertThat(nanos).isLessThan(1100));
        assertThat(simulation.queues.metrics(simulation.now).longestWaitNanos()).isLessThan(1100);
    }

    @Test
    void aLostEndSpoilsOneBurstOnly() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 3, 0, 500, 1000), 2);
        simulation.checkpointBegan(0); // and never ends
        simulation.at(2000, () -> simulation.checkpointBegan(1));
        simulation.at(2000, () -> simulation.checkpointBegan(0));
        simulation.at(2001, () -> simulation.submit(1, Kind.COMPACTION, 10));
        simulation.at(2100, () -> simulation.checkpointEnded(0));
        simulation.at(2150, () -> simulation.checkpointEnded(0)); // ignored
        simulation.at(2200, () -> simulation.checkpointEnded(1));
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(2400L);
    }

    @Test
    void aLateEndOfABurstThatWasGivenUpIsIgnored() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 3, 0, 500, 1000), 2);
        simulation.checkpointBegan(0);
        simulation.at(2000, () -> simulation.checkpointBegan(1));
        simulation.at(2001, () -> simulation.submit(1, Kind.COMPACTION, 10));
        simulation.at(2010, () -> simulation.checkpointEnded(0));
        simulation.at(2200, () -> simulation.checkpointEnded(1));
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(2400L);
    }

    @Test
    void overdueTasksTakeTurnsWithFlushes() {
        Simulation simulation = new Simulation(limits(1, 1, 95), 1);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.submit(0, Kind.COMPACTION, 10);
        for (int i = 0; i < 20; i++) {
            simulation.submit(0, Kind.FLUSH, 10);
        }
        simulation.run();
        // The tenth flush ends at 100, after the deadline; another, and then by turns.
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(110L, 130L);
        assertThat(simulation.starts(Kind.FLUSH)).hasSize(20);
    }

    @Test
    void aBacklogOpensTheLimitButLeavesAThreadToFlushes() {
        Simulation simulation = new Simulation(limits(4, 1, 100), 1);
        for (int i = 0; i < 12; i++) {
            simulation.submit(0, Kind.COMPACTION, 90);
        }
        simulation.at(150, () -> simulation.submit(0, Kind.FLUSH, 10));
        simulation.run();
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isEqualTo(3);
        assertThat(simulation.starts(Kind.COMPACTION)).startsWith(0L, 90L, 100L, 100L);
        assertThat(simulation.starts(Kind.FLUSH)).containsExactly(150L);
    }

    @Test
    void aPauseSendsTasksToTheirNextPhase() {
        Simulation simulation = new Simulation(new MaintenanceSettings(99, 99, 1000, 500, 3000), 8);
        for (int i = 0; i < 8; i++) {
            simulation.submit(i, Kind.COMPACTION, 1);
        }
        simulation.checkpointBegan(0);
        simulation.at(400, () -> simulation.checkpointEnded(0)); // holds until 800
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION))
                .doesNotHaveDuplicates()
                .allSatisfy(nanos -> assertThat(nanos).isBetween(800L, 1800L));
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isEqualTo(1);
    }

    @Test
    void tasksSubmittedDuringADrainAreSpreadToo() {
        Simulation simulation = new Simulation(new MaintenanceSettings(99, 99, 1000, 500, 3000), 8);
        simulation.checkpointBegan(0);
        simulation.at(400, () -> simulation.checkpointEnded(0)); // holds until 800
        for (int i = 0; i < 8; i++) {
            int instance = i;
            simulation.at(500, () -> simulation.submit(instance, Kind.COMPACTION, 1));
        }
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION))
                .doesNotHaveDuplicates()
                .allSatisfy(nanos -> assertThat(nanos).isBetween(800L, 1800L));
    }

    @Test
    void aCheckpointDuringTheDrainProlongsTheBurst() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 3, 0, 500, 1000), 2);
        simulation.checkpointBegan(0);
        simulation.submit(1, Kind.COMPACTION, 10);
        simulation.at(100, () -> simulation.checkpointEnded(0)); // would hold until 200
        simulation.at(150, () -> simulation.checkpointBegan(1));
        simulation.at(250, () -> simulation.checkpointEnded(1)); // 250 since the beginning
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(500L);
    }

    @Test
    void aBurstThatIsProlongedIsGivenUpAsSoonAsAnyOther() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 3, 0, 500, 1000), 2);
        simulation.checkpointBegan(0);
        simulation.at(100, () -> simulation.checkpointEnded(0)); // would hold until 200
        simulation.at(150, () -> simulation.checkpointBegan(1)); // and never ends
        simulation.at(500, () -> simulation.submit(1, Kind.COMPACTION, 10));
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(1000L);
    }

    @Test
    void whatWaitsForALimitWaitsForThePauseToo() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 1, 0, 500, 3000), 1);
        simulation.submit(0, Kind.COMPACTION, 100);
        simulation.submit(0, Kind.COMPACTION, 100);
        simulation.at(50, () -> simulation.checkpointBegan(0));
        simulation.at(250, () -> simulation.checkpointEnded(0));
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(0L, 450L);
    }

    @Test
    void placesAreTakenAgain() {
        Simulation simulation = new Simulation(limits(1, 1, 1000), 3);
        MaintenanceInstance second = simulation.instances.get(1);
        second.isClosed = true;
        simulation.queues.removeIfDone(second);
        MaintenanceScheduler unused = new MaintenanceScheduler(limits(1, 1, 1000));
        assertThat(simulation.queues.add("again", unused).phase()).isEqualTo(second.phase());
    }

    @Test
    void worksWhereTheClockOverflows() {
        Simulation simulation = new Simulation(new MaintenanceSettings(4, 1, 100, 500, 1000), 2);
        simulation.now = Long.MAX_VALUE - 300;
        simulation.checkpointBegan(0);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.submit(1, Kind.COMPACTION, 10);
        assertThat(simulation.queues.poll(simulation.now + 999)).isNull();
        assertThat(simulation.queues.poll(simulation.now + 1000)).isNotNull();
    }

    @Test
    void metricsSayWhatWaitsAndWhy() {
        Simulation simulation = new Simulation(new MaintenanceSettings(1, 1, 0, 500, 1000), 2);
        simulation.submit(0, Kind.COMPACTION, 10);
        simulation.submit(1, Kind.FLUSH, 10);
        Task flush = simulation.queues.poll(0);
        assertThat(simulation.queues.metrics(0).delayed()).isZero(); // waits for a thread only
        simulation.checkpointBegan(0);
        MaintenanceMetrics metrics = simulation.queues.metrics(7);
        assertThat(metrics.delayed()).isEqualTo(1);
        assertThat(metrics.queued())
                .containsEntry(Kind.COMPACTION, 1)
                .containsEntry(Kind.FLUSH, 0)
                .hasSize(2);
        assertThat(metrics.running()).containsEntry(Kind.FLUSH, 1).hasSize(2);
        assertThat(metrics.longestWaitNanos()).isEqualTo(7);
        simulation.queues.ended(flush, true);
        assertThat(simulation.queues.metrics(8).executed()).isEqualTo(1);
        assertThat(simulation.queues.metrics(8).failed()).isEqualTo(1);
    }
}
