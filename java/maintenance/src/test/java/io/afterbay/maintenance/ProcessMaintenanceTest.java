package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessMaintenanceTest {
    @Test
    void oneSchedulerAsLongAsAnInstanceIsOpen() {
        MaintenanceSettings settings = MaintenanceSettings.undelayed(1);
        MaintenanceInstance first = ProcessMaintenance.register("a", settings);
        MaintenanceScheduler shared = ProcessMaintenance.scheduler();
        MaintenanceInstance second =
                ProcessMaintenance.register("b", MaintenanceSettings.undelayed(2));
        assertThat(ProcessMaintenance.scheduler()).isSameAs(shared);
        assertThat(second.phase()).isNotEqualTo(first.phase());
        first.close();
        second.close();
        try (MaintenanceInstance third = ProcessMaintenance.register("c", settings)) {
            assertThat(ProcessMaintenance.scheduler()).isNotSameAs(shared);
            assertThat(third.phase()).isZero();
        }
    }
}
