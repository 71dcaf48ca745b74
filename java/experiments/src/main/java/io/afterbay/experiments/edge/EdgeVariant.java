package io.afterbay.experiments.edge;

import io.afterbay.experiments.Labelled;

/** What a run does. */
enum EdgeVariant implements Labelled {
    /** Both ways, live. */
    LIVE("live"),

    /**
     * The control: watermarks are guessed from slices, so that rows are lost; the comparison has to
     * see it.
     */
    GUESSED("guessed-watermarks");

    private final String label;

    EdgeVariant(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    static EdgeVariant named(String label) {
        return Labelled.named(EdgeVariant.class, label);
    }
}
