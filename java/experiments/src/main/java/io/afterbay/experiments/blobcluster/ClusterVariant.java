package io.afterbay.experiments.blobcluster;

import io.afterbay.experiments.Labelled;

/** Which cluster a load meets. A peer is one more, with nodes of its own. */
enum ClusterVariant implements Labelled {
    /** Ours: a copy of each object on each node, two of which acknowledge a put. */
    AFTERBAY("afterbay", 3, "2"),

    /**
     * The negative control: the same nodes without copies. Whoever looks for what is lost has to
     * find it.
     */
    CONTROL("control", 1, "one");

    private final String label;
    private final int copies;
    private final String policy;

    ClusterVariant(String label, int copies, String policy) {
        this.label = label;
        this.copies = copies;
        this.policy = policy;
    }

    @Override
    public String label() {
        return label;
    }

    /** Of each object, on a node of its own each. */
    int copies() {
        return copies;
    }

    /** How many of them have to be there when a put is acknowledged, as the nodes call it. */
    String policy() {
        return policy;
    }

    /** Whether objects have to be lost. */
    boolean isControl() {
        return this == CONTROL;
    }

    /** Whether there is something to measure. */
    boolean takes(ClusterOperation operation) {
        return !isControl() || operation == ClusterOperation.KILL;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static ClusterVariant named(String label) {
        return Labelled.named(ClusterVariant.class, label);
    }

    public static final class Converter extends Labelled.Converter<ClusterVariant> {
        public Converter() {
            super(ClusterVariant.class);
        }
    }
}
