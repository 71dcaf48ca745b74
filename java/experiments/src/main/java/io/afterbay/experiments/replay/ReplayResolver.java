package io.afterbay.experiments.replay;

import io.afterbay.experiments.Labelled;

/** Whether replays are merged with the live job's rows. */
enum ReplayResolver implements Labelled {
    ON("on"),

    /** The control of the short form, which then has to end with 1. */
    OFF("off");

    private final String label;

    ReplayResolver(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    public static final class Converter extends Labelled.Converter<ReplayResolver> {
        public Converter() {
            super(ReplayResolver.class);
        }
    }
}
