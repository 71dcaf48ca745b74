package io.afterbay.store;

/** A list as it was when it was read. Can be read any number of times; the owner's thread only. */
public interface ListReader {
    /** Sum of the elements' lengths. */
    long bytes();

    /** Number of elements. */
    long size();

    /** A fresh pass from the first element. */
    Elements elements();

    /** One pass over the elements. */
    interface Elements {
        /** Copies the next element into {@code into}; false at the end. */
        boolean next(Slice into);
    }
}
