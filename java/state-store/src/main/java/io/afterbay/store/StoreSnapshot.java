package io.afterbay.store;

import java.io.IOException;
import java.io.OutputStream;

/**
 * The content of a store at one moment. Read by one thread, any, at the same time as the owner
 * works on; closed by any thread, once reading has ended.
 */
public interface StoreSnapshot extends AutoCloseable {
    /**
     * The entries of one state in one key group; empty for a name that did not exist. Each list
     * comes as one entry.
     */
    EntryCursor entries(String state, int keyGroup);

    /**
     * As {@link #entries}, cheaper: a list may come in several entries, whose concatenation in the
     * order in which they come is the list.
     */
    EntryCursor fragments(String state, int keyGroup);

    /**
     * Writes the content as an image: what is in memory goes to new files of the store, and the
     * index to {@code index}, which stays open. The image is written by the reader, and uses the
     * snapshot up, also if it fails: nothing more can be read from it, so that the store need not
     * keep what the image has. The snapshot may be closed before the image.
     *
     * @throws IOException if that fails; the store goes on
     */
    StoreImage image(OutputStream index) throws IOException;

    /** Hears of places in the files of an image from which the store was opened. */
    @FunctionalInterface
    interface Places {
        /**
         * @param file its number, see {@link StoreImage.File}
         * @return whether more is of interest
         */
        boolean place(int file, long position);
    }

    /**
     * Tells where that lies on disk which the next triggers of all schedules will need, in the
     * order in which they fire; most of it. A hint of what to fetch first.
     *
     * @param triggersMax of so many triggers
     */
    default void upcoming(int triggersMax, Places to) {}

    /** Idempotent. */
    @Override
    void close();
}
