package io.afterbay.maintenance;

import org.jspecify.annotations.Nullable;

/**
 * The scheduler of this process. Where classes are loaded per job, this class must come from a
 * loader that all jobs share, or else each job has a scheduler and they know nothing of each other.
 */
public final class ProcessMaintenance {
    private static @Nullable MaintenanceScheduler scheduler;

    private ProcessMaintenance() {}

    /**
     * Registers an instance.
     *
     * @param settings used if no other instance is open; those of the first one hold for all
     */
    public static synchronized MaintenanceInstance register(
            String name, MaintenanceSettings settings) {
        MaintenanceScheduler shared = scheduler;
        if (shared == null || shared.openInstances() == 0) {
            shared = new MaintenanceScheduler(settings);
            scheduler = shared;
        }
        return shared.register(name);
    }

    /** The scheduler, or null if nothing has registered yet. */
    public static synchronized @Nullable MaintenanceScheduler scheduler() {
        return scheduler;
    }
}
