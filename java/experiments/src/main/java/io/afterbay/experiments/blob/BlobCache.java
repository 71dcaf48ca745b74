package io.afterbay.experiments.blob;

import io.afterbay.experiments.Labelled;

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

    public static final class Converter extends Labelled.Converter<BlobCache> {
        public Converter() {
            super(BlobCache.class);
        }
    }
}
