package io.afterbay.experiments.spark;

import io.afterbay.experiments.Labelled;

/** Where the checkpoint of a query on Spark is. */
enum SparkDfs implements Labelled {
    /** On the local disk. */
    LOCAL("local"),

    /** There, too, and as slow as a distributed file system. */
    SLOW("slow");

    private final String label;

    SparkDfs(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    public static final class Converter extends Labelled.Converter<SparkDfs> {
        public Converter() {
            super(SparkDfs.class);
        }
    }
}
