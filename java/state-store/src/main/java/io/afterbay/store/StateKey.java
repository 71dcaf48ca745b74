package io.afterbay.store;

import java.util.Arrays;

/**
 * What a state is addressed by: key group, key and namespace (a window, or empty), all serialised.
 *
 * <p>Owned and reused by the caller. The store only reads it, and never keeps it beyond a call. Key
 * and namespace lie one behind the other in {@link #bytes()}, so that one comparison covers both.
 * Not thread safe.
 */
public final class StateKey {
    private int keyGroup;
    private byte[] bytes = new byte[64];
    private int keyLength;
    private int namespaceLength;
    private long hash;
    private boolean hashed;

    /** A key of its own, which later changes of {@code source} do not touch. */
    public static StateKey copyOf(StateKey source) {
        return new StateKey().set(source);
    }

    /** Sets all that {@code source} has. */
    public StateKey set(StateKey source) {
        setKey(source.keyGroup, source.bytes, 0, source.keyLength);
        return setNamespace(source.bytes, source.keyLength, source.namespaceLength);
    }

    /** Sets key group and key; the namespace becomes empty. */
    public StateKey setKey(int keyGroup, byte[] source, int offset, int length) {
        this.keyGroup = keyGroup;
        reserve(length);
        System.arraycopy(source, offset, bytes, 0, length);
        keyLength = length;
        namespaceLength = 0;
        hashed = false;
        return this;
    }

    public StateKey setKey(int keyGroup, byte[] key) {
        return setKey(keyGroup, key, 0, key.length);
    }

    /** Sets the namespace of the present key. */
    public StateKey setNamespace(byte[] source, int offset, int length) {
        reserve(keyLength + length);
        System.arraycopy(source, offset, bytes, keyLength, length);
        namespaceLength = length;
        hashed = false;
        return this;
    }

    public StateKey setNamespace(byte[] namespace) {
        return setNamespace(namespace, 0, namespace.length);
    }

    private void reserve(int length) {
        if (bytes.length < length) {
            bytes = Arrays.copyOf(bytes, Math.max(length, bytes.length * 2));
        }
    }

    public int keyGroup() {
        return keyGroup;
    }

    /** Key, then namespace; the array is longer than both and is replaced when it grows. */
    public byte[] bytes() {
        return bytes;
    }

    public int keyLength() {
        return keyLength;
    }

    public int namespaceLength() {
        return namespaceLength;
    }

    /** Length of key and namespace together. */
    public int length() {
        return keyLength + namespaceLength;
    }

    /** 64-bit hash of key and namespace; computed once per change. */
    public long hash() {
        if (!hashed) {
            hash = Hash.of(bytes, 0, length(), keyLength);
            hashed = true;
        }
        return hash;
    }
}
