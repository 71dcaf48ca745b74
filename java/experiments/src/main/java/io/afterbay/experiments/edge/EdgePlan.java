package io.afterbay.experiments.edge;

import io.afterbay.experiments.PlanWithoutEngine;
import java.util.Locale;

/**
 * One run of an app.
 *
 * @param setting what makes it differ from others
 * @param app the folder of the app
 * @param program of the sites
 */
record EdgePlan(EdgeTrial.Setting setting, String app, String program)
        implements PlanWithoutEngine {

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, links of %,d kbit/s, down for %.1f s, played in %.1f s, pair %d",
                setting.variant(),
                setting.linkBitsPerS() / 1_000,
                setting.outageMs() / 1e3,
                setting.playMs() / 1e3,
                setting.pair());
    }
}
