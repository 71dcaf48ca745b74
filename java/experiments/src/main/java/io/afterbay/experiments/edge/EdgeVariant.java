package io.afterbay.experiments.edge;

import io.afterbay.experiments.Labelled;

/** What a run does. */
enum EdgeVariant implements Labelled {
    /** Both ways, live; the whole job gets streams of zlib. */
    LIVE("live"),

    /** The same with Kafka producers at the sites for the whole job. */
    PRODUCER("producer"),

    /** The job in halves live; the whole job on a MiniCluster of Flink's, on files. */
    MINI_CLUSTER("mini-cluster"),

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

    /** Whether the rate of links matters to what it is about. */
    boolean isBehindLinks() {
        return this == LIVE || this == PRODUCER;
    }

    /** For picocli. */
    static final class Converter extends Labelled.Converter<EdgeVariant> {
        Converter() {
            super(EdgeVariant.class);
        }
    }

    static EdgeVariant named(String label) {
        return Labelled.named(EdgeVariant.class, label);
    }
}
