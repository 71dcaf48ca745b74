package io.afterbay.cli;

/** Where objects are before they are read. */
enum BlobCache implements Labelled {
    /** In the page cache, since they were written. */
    CACHED("cached"),

    /** On the disk only: dropped from the page cache, and each is read once. */
    COLD("cold");

    private final String label;

    BlobCache(String label) {
        this.label = label;
    }

    @Override
    public String label() {
        return label;
    }

    static final class Converter extends Labelled.Converter<BlobCache> {
        Converter() {
            super(BlobCache.class);
        }
    }
}
