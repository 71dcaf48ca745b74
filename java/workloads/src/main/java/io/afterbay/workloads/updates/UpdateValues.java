package io.afterbay.workloads.updates;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The value of a key after so many events: the number of them, and bytes that follow from it and
 * cannot be compressed, so that state has the same size in every store.
 *
 * <pre>
 *   +-----------------+----------------------------+
 *   | count, 8 bytes  | pseudo-random, the rest    |
 *   +-----------------+----------------------------+
 * </pre>
 */
public final class UpdateValues {
    /** The least size of a value. */
    public static final int BYTES_MIN = Long.BYTES;

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private UpdateValues() {}

    static byte[] of(long key, long count, int bytes) {
        byte[] value = new byte[bytes];
        LONGS.set(value, 0, count);
        long random = UpdateKeys.mix(key + count) | 1;
        int at = Long.BYTES;
        for (; at + Long.BYTES <= bytes; at += Long.BYTES) {
            random = next(random);
            LONGS.set(value, at, random);
        }
        for (; at < bytes; at++) {
            random = next(random);
            value[at] = (byte) random;
        }
        return value;
    }

    /** Xorshift64: Marsaglia: Xorshift RNGs. */
    private static long next(long random) {
        long x = random;
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    static long count(byte[] value) {
        return (long) LONGS.get(value, 0);
    }

    /** Whether all bytes are as they were written. */
    static boolean isWhole(byte[] value, long key) {
        return Arrays.equals(value, of(key, count(value), value.length));
    }
}
