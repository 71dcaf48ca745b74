package io.afterbay.experiments.storm;

import io.afterbay.experiments.Labelled;
import io.afterbay.handover.stragglers.StragglerPlan;

/** How the times are distributed that a task takes. */
enum StormService implements Labelled {
    EXPONENTIAL("exponential", StragglerPlan.Service.EXPONENTIAL),
    FIXED("fixed", StragglerPlan.Service.FIXED),

    /** Exponential, and now and then a task stands still. */
    PAUSES("pauses", StragglerPlan.Service.PAUSES);

    private final String label;
    private final StragglerPlan.Service service;

    StormService(String label, StragglerPlan.Service service) {
        this.label = label;
        this.service = service;
    }

    @Override
    public String label() {
        return label;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static StormService named(String label) {
        return Labelled.named(StormService.class, label);
    }

    /** The same for the process with Storm. */
    StragglerPlan.Service service() {
        return service;
    }

    public static final class Converter extends Labelled.Converter<StormService> {
        public Converter() {
            super(StormService.class);
        }
    }
}
