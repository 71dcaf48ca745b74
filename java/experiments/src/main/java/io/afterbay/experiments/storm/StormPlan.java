package io.afterbay.experiments.storm;

import io.afterbay.experiments.PlanWithoutEngine;
import io.afterbay.handover.stragglers.StragglerPlan;
import java.util.Locale;

/**
 * One run of a topology on Storm.
 *
 * @param setting what makes it differ from others
 * @param run the same for the process with Storm
 */
record StormPlan(StormTrial.Setting setting, StragglerPlan run) implements PlanWithoutEngine {

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, %d x %d tasks, %d %% load%s, %s, pair %d",
                setting.cell(),
                setting.stages(),
                setting.tasks(),
                setting.utilisationPercent(),
                setting.busyPercent() == 0
                        ? ""
                        : ", processors %d %% busy beside".formatted(setting.busyPercent()),
                setting.variant(),
                setting.pair());
    }

    /** The run without figures. */
    StormTrial trial() {
        return StormTrial.none(setting);
    }
}
