package io.afterbay.flink.incremental;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The base of a store that has nothing yet: an index without pages. From it the first checkpoint of
 * a job goes on as an increment, instead of freezing a store that was not prepared for it; and what
 * that needs of code is loaded and run before the first event.
 *
 * @param position where the log begins behind it
 */
record EmptyBase(Base base, byte[] index, long position) {
    /**
     * Of a new store.
     *
     * @param copies keep the index; null for none
     */
    static EmptyBase of(StateStore store, @Nullable LocalCopies copies, long position) {
        UUID id = UUID.randomUUID();
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        try (StoreSnapshot nothing = store.snapshot();
                StoreImage image = nothing.image(index)) {
            Base base = Base.of(id, image);
            if (copies != null) {
                keep(base.indexName(), index.toByteArray(), copies);
            }
            return new EmptyBase(base, index.toByteArray(), position);
        } catch (IOException e) {
            throw new StateStoreException("cannot write the index of an empty store", e);
        }
    }

    private static void keep(String name, byte[] index, LocalCopies copies) throws IOException {
        try (OutputStream both = copies.tee(name, OutputStream.nullOutputStream())) {
            both.write(index);
        }
        copies.keepWritten(name);
    }
}
