package io.afterbay.blob.it;

import java.util.Random;

/** Contents of files. */
final class Bytes {
    static final int MIB = 1 << 20;

    private Bytes() {}

    /** As random as a seed is, so that no two ranges are the same. */
    static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
