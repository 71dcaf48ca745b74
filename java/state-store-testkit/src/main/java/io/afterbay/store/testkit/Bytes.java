package io.afterbay.store.testkit;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32;

/** A byte array that compares by content and prints itself briefly. */
@SuppressWarnings("ArrayRecordComponent") // never changed, compared by content
record Bytes(byte[] array) implements Comparable<Bytes> {
    private static final int SHOWN = 12;

    static Bytes of(byte[] source, int offset, int length) {
        return new Bytes(Arrays.copyOfRange(source, offset, offset + length));
    }

    static String show(byte[] bytes, int offset, int length) {
        String head = HexFormat.of().formatHex(bytes, offset, offset + Math.min(length, SHOWN));
        return length <= SHOWN ? head : head + "..(" + length + " B)";
    }

    @Override
    public int compareTo(Bytes other) {
        return Arrays.compareUnsigned(array, other.array);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes that && Arrays.equals(array, that.array);
    }

    @Override
    public int hashCode() {
        CRC32 crc = new CRC32(); // which a JVM computes many times as fast as Arrays.hashCode
        crc.update(array);
        return (int) crc.getValue();
    }

    @Override
    public String toString() {
        return show(array, 0, array.length);
    }
}
