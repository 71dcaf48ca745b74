package io.afterbay.experiments.blob;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.afterbay.command.ByteSize;
import io.afterbay.experiments.PlanWithoutEngine;
import java.util.Locale;

/**
 * One run of a load on a blob store.
 *
 * @param setting what makes it differ from others
 * @param times how long it is
 * @param tools where the programs are
 */
record BlobPlan(BlobTrial.Setting setting, Times times, Tools tools) implements PlanWithoutEngine {

    /**
     * @param countedMs of puts, and of gets from the page cache
     */
    record Times(long warmUpMs, long countedMs) {}

    /**
     * Programs.
     *
     * @param load of the module {@code blob-bench}
     * @param server the blob store's
     * @param minio empty if it is not installed
     */
    record Tools(String load, String server, String minio) {}

    BlobVariant variant() {
        return BlobVariant.named(setting.variant());
    }

    @JsonIgnore
    boolean isPut() {
        return setting.operation().equals(BlobOperation.PUT.label());
    }

    @JsonIgnore
    boolean isCold() {
        return setting.cache().equals(BlobCache.COLD.label());
    }

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public String title() {
        if (setting.isIndex()) {
            return String.format(
                    Locale.ROOT, "index of %,d blobs, pair %d", setting.objects(), setting.pair());
        }
        return "%s%s, %s, %d clients, %s, pair %d"
                .formatted(
                        setting.operation(),
                        isPut() ? "" : ", " + setting.cache(),
                        new ByteSize(setting.sizeBytes()),
                        setting.clients(),
                        setting.variant(),
                        setting.pair());
    }

    /** The run without figures. */
    BlobTrial trial() {
        return BlobTrial.none(setting);
    }
}
