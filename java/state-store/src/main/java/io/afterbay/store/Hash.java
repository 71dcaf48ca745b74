package io.afterbay.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 64-bit hash that orders entries inside a key group. It is part of no durable format: a
 * restored store hashes anew. Multiply-and-fold of 8-byte words, as in wyhash.
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
        long h = fold(seed ^ P0, length ^ P1);
        int at = offset;
        int left = length;
        for (; left >= 8; left -= 8, at += 8) {
            h = fold(h ^ (long) LONG.get(bytes, at), P1);
        }
        return fold(h ^ tail(bytes, at, left), P0);
    }

    private static long tail(byte[] bytes, int at, int left) {
        if (left >= 4) {
            long head = (int) INT.get(bytes, at) & 0xffffffffL;
            long end = (int) INT.get(bytes, at + left - 4) & 0xffffffffL;
            return head << 32 | end;
        }
        long value = 0;
        for (int i = 0; i < left; i++) {
            value = value << 8 | (bytes[at + i] & 0xff);
        }
        return value;
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.multiplyHigh(a, b);
    }
}
