package io.afterbay.store.paged;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.Varint;
import io.afterbay.store.paged.AppendLogs.Sink;
import io.afterbay.store.paged.AppendLogs.Window;
import java.util.Arrays;

/**
 * Some elements of a log, brought into the order of the tree that they go to: those of a key lie
 * together and are appended at once, neighbours go to the same leaf. On the heap, bounded; elements
 * of a key keep their order.
 *
 * <p>A record in {@link #data}: key group 4, key length 4, element length 4 (big endian), key,
 * element.
 */
final class RegroupBatch {
    /** Smaller elements do not fill a batch: their number is bounded too. */
    private static final int ELEMENT_BYTES = 64;

    private static final int HEADER_BYTES = 12;

    /** Elements of one key that are appended at once, in bytes. */
    private static final int RUN_BYTES_MAX = 8 << 10;

    private final int bytesMax;
    private final int elementsMax;

    /** Low bits of {@link #order} that number an element; the rest is of its hash. */
    private final int indexBits;

    private byte[] data = new byte[4 << 10];
    private int[] offsets = new int[64];
    private long[] order = new long[64];
    private int used;
    private int count;
    private final StateKey key = new StateKey();
    private final Slice run = new Slice();

    /**
     * @param bytesMax of a batch, unless a single element is larger
     */
    RegroupBatch(int bytesMax) {
        this.bytesMax = bytesMax;
        elementsMax = Integer.highestOneBit(bytesMax / ELEMENT_BYTES);
        indexBits = Integer.numberOfTrailingZeros(elementsMax);
    }

    /** Whether there is room for one more; an empty batch takes any element. */
    boolean fits(int elementBytes) {
        return count == 0 || count < elementsMax && (long) used + elementBytes <= bytesMax;
    }

    void add(StateKey key, Slice element) {
        reserve(HEADER_BYTES + key.keyLength() + element.length());
        int at = putInt(putInt(putInt(used, key.keyGroup()), key.keyLength()), element.length());
        System.arraycopy(key.bytes(), 0, data, at, key.keyLength());
        at += key.keyLength();
        System.arraycopy(element.array(), 0, data, at, element.length());
        offsets[count] = used;
        order[count] = key.hash() >>> indexBits << indexBits | count;
        used = at + element.length();
        count++;
    }

    private void reserve(int bytes) {
        if (used + bytes > data.length) {
            data = Arrays.copyOf(data, Math.max(used + bytes, data.length * 2));
        }
        if (count == offsets.length) {
            offsets = Arrays.copyOf(offsets, count * 2);
            order = Arrays.copyOf(order, count * 2);
        }
    }

    private int putInt(int at, int value) {
        data[at] = (byte) (value >>> 24);
        data[at + 1] = (byte) (value >>> 16);
        data[at + 2] = (byte) (value >>> 8);
        data[at + 3] = (byte) value;
        return at + 4;
    }

    private int getInt(int at) {
        return data[at] << 24
                | (data[at + 1] & 0xff) << 16
                | (data[at + 2] & 0xff) << 8
                | data[at + 3] & 0xff;
    }

    /** Hands all elements over and empties the batch. */
    void drainTo(Window namespace, Sink sink) {
        Arrays.sort(order, 0, count);
        int next = 0;
        while (next < count) {
            next = drainRun(next, namespace, sink);
        }
        clear();
    }

    /** Hands over the elements from {@code first} on that have its key; returns the next one. */
    private int drainRun(int first, Window namespace, Sink sink) {
        int at = offset(first);
        run.reset(0);
        int next = first;
        do {
            appendToRun(offset(next));
            next++;
        } while (next < count && run.length() < RUN_BYTES_MAX && isSameKey(at, offset(next)));
        key.setKey(getInt(at), data, at + HEADER_BYTES, getInt(at + 4));
        key.setNamespace(namespace.bytes, namespace.offset, namespace.length);
        sink.append(key, run.array(), run.length());
        return next;
    }

    private int offset(int position) {
        return offsets[(int) order[position] & (1 << indexBits) - 1];
    }

    private boolean isSameKey(int a, int b) {
        int length = getInt(a + 4);
        int from = a + HEADER_BYTES;
        int other = b + HEADER_BYTES;
        return getInt(a) == getInt(b)
                && length == getInt(b + 4)
                && Arrays.equals(data, from, from + length, data, other, other + length);
    }

    private void appendToRun(int record) {
        int length = getInt(record + 8);
        int start = run.length();
        byte[] target = run.extend(Varint.MAX_BYTES + length);
        int at = Varint.write(length, target, start);
        System.arraycopy(data, record + HEADER_BYTES + getInt(record + 4), target, at, length);
        run.truncate(at + length);
    }

    private void clear() {
        used = 0;
        count = 0;
        if (data.length > 2L * bytesMax) {
            data = new byte[4 << 10]; // a single element was larger than a batch
            run.release();
        }
    }
}
