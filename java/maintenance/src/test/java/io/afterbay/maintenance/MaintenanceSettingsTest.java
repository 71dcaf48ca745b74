package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaintenanceSettingsTest {
    @ParameterizedTest
    @CsvSource({
        "0, 1, 0, 0, 1",
        "2, 0, 0, 0, 1",
        "2, 3, 0, 0, 1",
        "2, 2, -1, 0, 1",
        "2, 2, 0, -1, 1",
        "2, 2, 0, 0, 0",
        "2, 2, 9, 0, 8",
        "2, 2, 0, 9, 8"
    })
    void refusesWhatContradicts(int threads, int limit, long period, long pause, long deadline) {
        assertThatThrownBy(() -> new MaintenanceSettings(threads, limit, period, pause, deadline))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 10000000000", "2, 8000", "16, 600000000000"})
    void deadlineStaysBelowTheInterval(int threads, long interval) {
        MaintenanceSettings settings = MaintenanceSettings.forCheckpoints(threads, interval);
        assertThat(settings.deadlineNanos()).isLessThanOrEqualTo(Math.max(3, interval * 3 / 4));
        assertThat(settings.deferrableLimit()).isBetween(1, threads);
    }

    @Test
    void undelayedHoldsNothingBack() {
        MaintenanceSettings settings = MaintenanceSettings.undelayed(3);
        Simulation simulation = new Simulation(settings, 1);
        simulation.checkpointBegan(0);
        simulation.submit(0, Kind.COMPACTION, 5);
        simulation.run();
        assertThat(simulation.starts(Kind.COMPACTION)).containsExactly(0L);
    }
}
