package io.afterbay.store;

import io.afterbay.store.io.LocalFile;
import java.io.IOException;

/** Where a store that is opened from an image finds the image's files. */
@FunctionalInterface
public interface ImageFiles {
    /**
     * Opens a file for reading; the store closes it. If it lies in the store's directory under the
     * name that it had in the directory of its writer, the store deletes it when it needs it no
     * more.
     *
     * <p>It may be an {@link io.afterbay.store.io.ArrivingFile}: the store works while the content
     * comes, and fails if it does not.
     *
     * @param number of {@link StoreImage.File}
     */
    LocalFile open(int number) throws IOException;
}
