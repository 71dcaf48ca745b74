package io.afterbay.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 64-bit hash that orders entries inside a key group. It is part of no durable format: a
 * restored store hashes anew. Multiply-and-fold of 16 bytes at a time, as in wyhash.
 */
public final class Hash {
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long P0 = 0xa0761d6478bd642fL;
    private static final long P1 = 0xe7037ed1a0b428dbL;

    private Hash() {}

    public static long of(byte[] bytes, int offset, int length, long seed) {
        long h = seed ^ P0;
        int at = offset;
        int left = length;
        for (; left > 16; left -= 16, at += 16) {
            h = fold(word(bytes, at) ^ P1, word(bytes, at + 8) ^ h);
        }
        h = fold(head(bytes, at, left) ^ P1, tail(bytes, at, left) ^ h);
        return fold(h ^ P0, length ^ P1);
    }

    private static long word(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    /** The first half of up to 16 bytes; it and {@link #tail} overlap rather than miss one. */
    private static long head(byte[] bytes, int at, int left) {
        if (left >= 8) {
            return word(bytes, at);
        }
        if (left >= 4) {
            return (int) INT.get(bytes, at);
        }
        return left == 0 ? 0 : bytes[at] << 8 | bytes[at + (left >> 1)] & 0xff;
    }

    private static long tail(byte[] bytes, int at, int left) {
        if (left >= 8) {
            return word(bytes, at + left - 8);
        }
        if (left >= 4) {
            return (int) INT.get(bytes, at + left - 4);
        }
        return left == 0 ? 0 : bytes[at + left - 1];
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.multiplyHigh(a, b);
    }
}
