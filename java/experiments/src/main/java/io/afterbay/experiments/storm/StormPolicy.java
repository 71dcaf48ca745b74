package io.afterbay.experiments.storm;

import io.afterbay.experiments.Labelled;

/** Whether variants of ours have their technique. */
enum StormPolicy implements Labelled {
    ON("on"),

    /** The control of the short form's counts, which then have to be missing. */
    OFF("off");

    private final String label;

    StormPolicy(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    public static final class Converter extends Labelled.Converter<StormPolicy> {
        public Converter() {
            super(StormPolicy.class);
        }
    }
}
