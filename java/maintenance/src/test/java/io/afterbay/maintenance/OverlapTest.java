package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A worker with 64 instances, all of which flush at each checkpoint and compact afterwards. */
class OverlapTest {
    private static final long MS = 1_000_000;
    private static final int INSTANCES = 64;
    private static final int THREADS = 2 * INSTANCES; // so that only policy keeps tasks apart
    private static final long INTERVAL = 8000 * MS;
    private static final int CHECKPOINTS = 5;

    @Test
    void withoutPolicyAllCompactAtOnce() { // the negative control
        Simulation simulation = checkpoints(MaintenanceSettings.undelayed(THREADS));
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isEqualTo(INSTANCES);
        assertThat(simulation.mixedStarts).isGreaterThan(CHECKPOINTS);
    }

    @Test
    void spreadAloneKeepsCompactionsApart() {
        Simulation simulation =
                checkpoints(new MaintenanceSettings(THREADS, THREADS, INTERVAL, 0, INTERVAL));
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isLessThanOrEqualTo(2);
        assertThat(simulation.mixedStarts).isPositive(); // but not apart from flushes
    }

    @Test
    void pauseAloneKeepsThemApartFromFlushes() {
        Simulation simulation =
                checkpoints(new MaintenanceSettings(THREADS, THREADS, 0, INTERVAL / 4, INTERVAL));
        assertThat(simulation.mixedStarts).isZero();
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isEqualTo(INSTANCES); // but together
    }

    @Test
    void spreadAndPauseDoBoth() {
        Simulation simulation = checkpoints(MaintenanceSettings.forCheckpoints(THREADS, INTERVAL));
        assertThat(simulation.mixedStarts).isZero();
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isLessThanOrEqualTo(2);
        assertThat(simulation.starts(Kind.COMPACTION)).hasSize(CHECKPOINTS * INSTANCES);
        assertThat(simulation.queues.metrics(simulation.now).stalls()).isZero();
    }

    @Test
    void noCompactionBeginsBeforeTheQueueIsDrained() {
        Simulation simulation = simulation(MaintenanceSettings.forCheckpoints(THREADS, INTERVAL));
        simulation.delay.arrived(60_000, 1000 * MS);
        simulation.delay.drained(80_000, 1000 * MS);
        simulation.run();
        // Flushes of 100 to 131 ms, and 0.75 times as long for the queue.
        long drained = (131 + 98) * MS;
        assertThat(simulation.starts(Kind.COMPACTION))
                .allSatisfy(nanos -> assertThat(nanos % INTERVAL).isGreaterThanOrEqualTo(drained));
    }

    @Test
    void limitHoldsUnderAnyPolicy() {
        Simulation simulation = checkpoints(new MaintenanceSettings(16, 4, 0, 0, INTERVAL));
        assertThat(simulation.mostRunning(Kind.COMPACTION)).isEqualTo(4);
        assertThat(simulation.mostRunning(Kind.FLUSH)).isEqualTo(16);
    }

    private static Simulation checkpoints(MaintenanceSettings settings) {
        Simulation simulation = simulation(settings);
        simulation.run();
        return simulation;
    }

    private static Simulation simulation(MaintenanceSettings settings) {
        Simulation simulation = new Simulation(settings, INSTANCES);
        for (int i = 0; i < CHECKPOINTS; i++) {
            simulation.at(
                    i * INTERVAL,
                    () -> IntStream.range(0, INSTANCES).forEach(k -> checkpoint(simulation, k)));
        }
        return simulation;
    }

    /** A flush of about 100 ms, then a compaction of 50 ms. */
    private static void checkpoint(Simulation simulation, int instance) {
        simulation.checkpointBegan(instance);
        simulation.submit(
                instance,
                Kind.FLUSH,
                (100 + instance / 2) * MS,
                () -> {
                    simulation.checkpointEnded(instance);
                    simulation.submit(instance, Kind.COMPACTION, 50 * MS);
                });
    }
}
