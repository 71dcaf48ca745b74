package io.afterbay.flink.incremental;

import io.afterbay.store.StoreImage;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * An image of the store in checkpoint storage.
 *
 * @param segments the files with its pages; several bases of a store share some
 */
record Base(UUID id, List<Segment> segments) {

    /**
     * A file with pages.
     *
     * @param number see {@link StoreImage.File}
     * @param name of the file, in its writer's directory and in checkpoints
     */
    record Segment(int number, String name, long bytes) {
        static Segment of(StoreImage.File file) {
            return new Segment(file.number(), file.path().getFileName().toString(), file.bytes());
        }
    }

    static Base of(UUID id, StoreImage image) {
        return new Base(id, image.files().stream().map(Segment::of).toList());
    }

    static final String INDEX_SUFFIX = ".index";

    /** The name of the index from which a store is opened. */
    String indexName() {
        return id + INDEX_SUFFIX;
    }

    Stream<String> names() {
        return Stream.concat(Stream.of(indexName()), segments.stream().map(Segment::name));
    }

    /** Without the index. */
    long bytes() {
        return segments.stream().mapToLong(Segment::bytes).sum();
    }
}
