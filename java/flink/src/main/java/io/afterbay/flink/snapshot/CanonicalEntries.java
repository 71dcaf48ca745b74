package io.afterbay.flink.snapshot;

import java.io.IOException;

/** The entries of one state in one key group, in Flink's canonical form. */
interface CanonicalEntries extends AutoCloseable {
    boolean next() throws IOException;

    /** Key group, key, namespace and user key; a fresh array. */
    byte[] key();

    /** A fresh array. */
    byte[] value();

    @Override
    void close();
}
