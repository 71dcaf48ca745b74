package io.afterbay.store.redo;

import io.afterbay.store.StateKey;
import java.nio.charset.StandardCharsets;

/** Reads the parts of records; beyond the end it throws {@link IndexOutOfBoundsException}. */
final class RedoInput {
    private final byte[] bytes;
    private final int end;
    private int at;

    RedoInput(byte[] bytes, int end) {
        this.bytes = bytes;
        this.end = end;
    }

    boolean hasMore() {
        return at < end;
    }

    int position() {
        return at;
    }

    byte[] bytes() {
        return bytes;
    }

    byte readByte() {
        return bytes[skip(1)];
    }

    /** A varint from 0 on. */
    int readNumber() {
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            byte b = readByte();
            value |= (b & 0x7f) << shift;
            if (b >= 0) {
                return checkNotNegative(value);
            }
        }
        throw new IndexOutOfBoundsException("a number of more than five bytes");
    }

    private static int checkNotNegative(int value) {
        if (value < 0) {
            throw new IndexOutOfBoundsException("a number above 2^31 - 1");
        }
        return value;
    }

    long readTimestamp() {
        int from = skip(Long.BYTES);
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | bytes[from + i] & 0xff;
        }
        return value;
    }

    String readText() {
        int length = readNumber();
        return new String(bytes, skip(length), length, StandardCharsets.UTF_8);
    }

    void readKey(StateKey into) {
        int keyGroup = readNumber();
        int keyLength = readNumber();
        int namespaceLength = readNumber();
        into.setKey(keyGroup, bytes, skip(keyLength), keyLength);
        into.setNamespace(bytes, skip(namespaceLength), namespaceLength);
    }

    /** Passes over so many bytes; returns where they begin. */
    int skip(int length) {
        int from = at;
        at = endOf(length);
        return from;
    }

    /** Where the next so many bytes end. */
    int endOf(int length) {
        if (length > end - at) {
            throw new IndexOutOfBoundsException(
                    length + " bytes, of which there are " + (end - at));
        }
        return at + length;
    }
}
