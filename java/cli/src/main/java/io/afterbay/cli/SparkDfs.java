package io.afterbay.cli;

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

    static final class Converter extends Labelled.Converter<SparkDfs> {
        Converter() {
            super(SparkDfs.class);
        }
    }
}
