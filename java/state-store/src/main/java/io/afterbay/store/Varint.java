package io.afterbay.store;

/** Lengths in 1 to 5 bytes, seven bits each, least significant first, as in protocol buffers. */
public final class Varint {
    public static final int MAX_BYTES = 5;

    private Varint() {}

    public static int bytes(int value) {
        return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
    }

    /** Returns the position behind the written bytes. */
    public static int write(int value, byte[] target, int offset) {
        int at = offset;
        int rest = value;
        for (; (rest & ~0x7f) != 0; rest >>>= 7) {
            target[at++] = (byte) (rest | 0x80);
        }
        target[at++] = (byte) rest;
        return at;
    }

    public static int read(byte[] source, int offset) {
        int value = 0;
        for (int at = offset, shift = 0; ; at++, shift += 7) {
            int b = source[at];
            value |= (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
        }
    }
}
