package io.afterbay.experiments.blobcluster;

import io.afterbay.experiments.Labelled;

/** What clients do, or what happens to the nodes meanwhile. */
enum ClusterOperation implements Labelled {
    PUT("put"),
    GET("get"),

    /** Puts and gets by a schedule, while a node is killed and comes back. */
    KILL("kill");

    private final String label;

    ClusterOperation(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static ClusterOperation named(String label) {
        return Labelled.named(ClusterOperation.class, label);
    }

    public static final class Converter extends Labelled.Converter<ClusterOperation> {
        public Converter() {
            super(ClusterOperation.class);
        }
    }
}
