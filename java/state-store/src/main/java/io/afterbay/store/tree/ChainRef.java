package io.afterbay.store.tree;

import static io.afterbay.store.page.Memory.getInt;
import static io.afterbay.store.page.Memory.getLong;
import static io.afterbay.store.page.Memory.putInt;
import static io.afterbay.store.page.Memory.putLong;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Where a chain lies, and how much it holds; 32 bytes in a record: head 4, tail 4, bytes 8,
 * elements 8, element bytes 8.
 */
public final class ChainRef {
    static final int BYTES = 32;

    /** First and last page; 0 for an empty chain. */
    public int head;

    public int tail;

    /** Payload bytes in all pages. */
    public long bytes;

    /** Elements, if the chain is a list. */
    public long elements;

    /** Of an empty chain: the key group of what will be in it. Not stored. */
    public int keyGroup;

    /** Bytes of the elements without the lengths before them, if the chain is a list. */
    public long elementBytes;

    public ChainRef() {}

    /** An empty chain for entries of a key group. */
    public static ChainRef of(int keyGroup) {
        ChainRef chain = new ChainRef();
        chain.keyGroup = keyGroup;
        return chain;
    }

    static ChainRef read(long at) {
        return new ChainRef().readFrom(at);
    }

    ChainRef readFrom(long at) {
        head = getInt(at);
        tail = getInt(at + 4);
        bytes = getLong(at + 8);
        elements = getLong(at + 16);
        elementBytes = getLong(at + 24);
        return this;
    }

    void writeTo(long at) {
        putInt(at, head);
        putInt(at + 4, tail);
        putLong(at + 8, bytes);
        putLong(at + 16, elements);
        putLong(at + 24, elementBytes);
    }

    /** As {@link #load} reads it. */
    public void save(DataOutput out) throws IOException {
        out.writeInt(head);
        out.writeInt(tail);
        out.writeLong(bytes);
        out.writeLong(elements);
        out.writeLong(elementBytes);
    }

    public static ChainRef load(DataInput in) throws IOException {
        ChainRef chain = new ChainRef();
        chain.head = in.readInt();
        chain.tail = in.readInt();
        chain.bytes = in.readLong();
        chain.elements = in.readLong();
        chain.elementBytes = in.readLong();
        return chain;
    }

    public ChainRef copy() {
        ChainRef copy = new ChainRef();
        copy.head = head;
        copy.tail = tail;
        copy.bytes = bytes;
        copy.elements = elements;
        copy.elementBytes = elementBytes;
        copy.keyGroup = keyGroup;
        return copy;
    }

    public boolean isEmpty() {
        return head == 0;
    }
}
