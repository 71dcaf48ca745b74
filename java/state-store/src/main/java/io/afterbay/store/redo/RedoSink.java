package io.afterbay.store.redo;

/** Takes the redo log of a store, chunk by chunk; called by the store's owner. */
@FunctionalInterface
public interface RedoSink {
    /**
     * Takes a chunk, which stands for itself: some whole records, in the order of the changes.
     *
     * @param bytes overwritten after the call
     * @param length valid bytes from index 0 on, above 0
     */
    void chunk(byte[] bytes, int length);
}
