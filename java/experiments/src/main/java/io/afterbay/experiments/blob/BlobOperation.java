package io.afterbay.experiments.blob;

import io.afterbay.experiments.Labelled;

/** What clients of a blob store do. */
enum BlobOperation implements Labelled {
    PUT("put"),
    GET("get");

    private final String label;

    BlobOperation(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    public static final class Converter extends Labelled.Converter<BlobOperation> {
        public Converter() {
            super(BlobOperation.class);
        }
    }
}
