package io.afterbay.store;

import java.nio.file.Path;
import java.util.List;

/**
 * The content of a snapshot as local files, from which a store can be opened without reading them:
 * {@link StateStores#open(StoreOptions, java.io.InputStream, ImageFiles)}.
 *
 * <p>Files that the store has written before are part of it as they are. They stay until the image
 * is closed, also if the store needs them no more; closing the store deletes them.
 */
public interface StoreImage extends AutoCloseable {
    /**
     * One file; it does not change any more. In a store that was opened with files that are {@link
     * io.afterbay.store.io.ArrivingFile on their way}, it may be one of these, not complete yet.
     *
     * @param number of the file, of all images of this store and of stores opened from them
     * @param bytes of it that count
     */
    record File(int number, Path path, long bytes) {}

    /** In order of their numbers. */
    List<File> files();

    /** By any thread. Idempotent. */
    @Override
    void close();
}
