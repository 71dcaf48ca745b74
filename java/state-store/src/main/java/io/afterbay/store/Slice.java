package io.afterbay.store;

import java.util.Arrays;

/**
 * A growable byte range on the heap that the store fills and the caller reads; reused from call to
 * call, so that a read allocates nothing. Valid bytes are {@code array()[0 .. length())}.
 */
public final class Slice {
    private byte[] array;
    private int length;

    public Slice() {
        this(64);
    }

    public Slice(int capacity) {
        array = new byte[capacity];
    }

    /** The bytes; replaced when the slice grows, so fetch it after every read. */
    public byte[] array() {
        return array;
    }

    public int length() {
        return length;
    }

    /** Makes room for {@code length} bytes, keeps no content, and returns the array to fill. */
    public byte[] reset(int length) {
        if (array.length < length) {
            array = new byte[Math.max(length, (int) Math.min(array.length * 2L, 1 << 30))];
        }
        this.length = length;
        return array;
    }

    /** Makes room for {@code bytes} more behind the content, and returns the array to fill. */
    public byte[] extend(int bytes) {
        int extended = Math.addExact(length, bytes);
        if (array.length < extended) {
            int doubled = (int) Math.min(array.length * 2L, 1 << 30);
            array = Arrays.copyOf(array, Math.max(extended, doubled));
        }
        length = extended;
        return array;
    }

    /** Drops the content behind the first {@code length} bytes. */
    public void truncate(int length) {
        this.length = length;
    }

    /** Drops the content and, with it, a large array. */
    public void release() {
        array = new byte[64];
        length = 0;
    }

    public void set(byte[] source, int offset, int length) {
        System.arraycopy(source, offset, reset(length), 0, length);
    }

    public byte[] toByteArray() {
        return Arrays.copyOf(array, length);
    }
}
