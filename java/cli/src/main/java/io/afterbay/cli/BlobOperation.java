package io.afterbay.cli;

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

    static final class Converter extends Labelled.Converter<BlobOperation> {
        Converter() {
            super(BlobOperation.class);
        }
    }
}
