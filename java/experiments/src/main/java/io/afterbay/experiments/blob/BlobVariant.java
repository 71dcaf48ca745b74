package io.afterbay.experiments.blob;

import io.afterbay.experiments.Labelled;
import org.jspecify.annotations.Nullable;

/** What a load meets: a server and its protocol, or a limit of the machine. */
enum BlobVariant implements Labelled {
    /** Ours, by its own protocol. */
    AFTERBAY_NATIVE("afterbay-native", "native"),

    /** Ours, by S3. */
    AFTERBAY_S3("afterbay-s3", "s3"),

    /** MinIO on one drive: a peer, and no part of Afterbay. */
    MINIO("minio", "s3"),

    /** A server in front of nothing: gets from memory, MD5 of puts. */
    BARE("bare", "s3"),

    /** One TCP stream. */
    LOOPBACK("loopback", null),

    /** Appends in groups, each with one fdatasync. */
    DISK("disk", null),

    /** Reads around the page cache, of the same sizes. */
    DISK_READ("disk-read", null),

    /** The negative control: ours, and one byte of one object is put as another one. */
    CONTROL("control", "native"),

    /** The same by S3. */
    CONTROL_S3("control-s3", "s3"),

    /** No server: the index of a partition. */
    INDEX("index", null);

    private final String label;
    private final @Nullable String protocol;

    BlobVariant(String label, @Nullable String protocol) {
        this.label = label;
        this.protocol = protocol;
    }

    @Override
    public String label() {
        return label;
    }

    /** How clients talk to it; null without a server. */
    @Nullable String protocol() {
        return protocol;
    }

    /** Whether objects are on the disk afterwards. */
    boolean isStore() {
        return this == AFTERBAY_NATIVE || this == AFTERBAY_S3 || this == MINIO || isControl();
    }

    /** Whether it has to be found wrong. */
    boolean isControl() {
        return this == CONTROL || this == CONTROL_S3;
    }

    boolean isOurs() {
        return isStore() && this != MINIO;
    }

    /** Whether there is something to measure. */
    boolean takes(BlobOperation operation, BlobCache cache) {
        return switch (this) {
            case AFTERBAY_NATIVE, AFTERBAY_S3, MINIO -> true;
            case BARE -> cache == BlobCache.CACHED;
            case LOOPBACK, CONTROL, CONTROL_S3 ->
                    operation == BlobOperation.GET && cache == BlobCache.CACHED;
            case DISK -> operation == BlobOperation.PUT;
            case DISK_READ -> operation == BlobOperation.GET && cache == BlobCache.COLD;
            case INDEX -> false;
        };
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static BlobVariant named(String label) {
        return Labelled.named(BlobVariant.class, label);
    }

    public static final class Converter extends Labelled.Converter<BlobVariant> {
        public Converter() {
            super(BlobVariant.class);
        }
    }
}
