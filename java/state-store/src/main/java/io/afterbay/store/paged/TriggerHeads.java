package io.afterbay.store.paged;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The key groups that have triggers, in order of (first timestamp, key group): a binary heap. Knows
 * a bound of the last timestamp, too: most triggers that are not in a tree are known to be absent
 * without a look into it.
 */
final class TriggerHeads {
    private static final int ABSENT = -1;

    private final int firstKeyGroup;
    private final long[] firstTimestamps;

    /** At least the last timestamp; exact until the last trigger is removed. */
    private final long[] lastTimestamps;

    private final int[] positions;
    private final int[] heap;
    private int size;

    TriggerHeads(int firstKeyGroup, int lastKeyGroup) {
        this.firstKeyGroup = firstKeyGroup;
        int keyGroups = lastKeyGroup - firstKeyGroup + 1;
        firstTimestamps = new long[keyGroups];
        lastTimestamps = new long[keyGroups];
        positions = new int[keyGroups];
        heap = new int[keyGroups];
        Arrays.fill(positions, ABSENT);
    }

    private TriggerHeads(TriggerHeads other) {
        firstKeyGroup = other.firstKeyGroup;
        firstTimestamps = other.firstTimestamps.clone();
        lastTimestamps = other.lastTimestamps.clone();
        positions = other.positions.clone();
        heap = other.heap.clone();
        size = other.size;
    }

    TriggerHeads copy() {
        return new TriggerHeads(this);
    }

    /** Number of key groups 4; for each: itself 4, first and last timestamp 8. */
    void save(DataOutput out) throws IOException {
        out.writeInt(size);
        for (int i = 0; i < size; i++) {
            int group = heap[i];
            out.writeInt(firstKeyGroup + group);
            out.writeLong(firstTimestamps[group]);
            out.writeLong(lastTimestamps[group]);
        }
    }

    void load(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            int keyGroup = in.readInt();
            add(keyGroup, in.readLong());
            lastTimestamps[keyGroup - firstKeyGroup] = in.readLong();
        }
    }

    /** Hears of a key group and its first timestamp. */
    interface Visitor {
        void head(int keyGroup, long firstTimestamp);
    }

    void forEach(Visitor visitor) {
        for (int i = 0; i < size; i++) {
            visitor.head(firstKeyGroup + heap[i], firstTimestamps[heap[i]]);
        }
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The key group whose turn is next; there must be one. */
    int first() {
        return heap[0] + firstKeyGroup;
    }

    /** Key groups whose turns come soon, the first one included, {@code max} at most. */
    int[] upcoming(int max) {
        int[] keyGroups = new int[Math.min(max, size)];
        for (int i = 0; i < keyGroups.length; i++) {
            keyGroups[i] = heap[i] + firstKeyGroup;
        }
        return keyGroups;
    }

    /** False if the key group has no trigger of that time for certain. */
    boolean mayHold(int keyGroup, long timestamp) {
        int group = keyGroup - firstKeyGroup;
        return positions[group] != ABSENT
                && firstTimestamps[group] <= timestamp
                && timestamp <= lastTimestamps[group];
    }

    /** There is one more trigger. */
    void add(int keyGroup, long timestamp) {
        int group = keyGroup - firstKeyGroup;
        boolean isOnly = positions[group] == ABSENT;
        if (isOnly || timestamp > lastTimestamps[group]) {
            lastTimestamps[group] = timestamp;
        }
        if (isOnly || timestamp < firstTimestamps[group]) {
            set(keyGroup, timestamp);
        }
    }

    /** Of a key group that has triggers. */
    long firstTimestamp(int keyGroup) {
        return firstTimestamps[keyGroup - firstKeyGroup];
    }

    /** The first trigger is another one now. */
    void set(int keyGroup, long firstTimestamp) {
        int group = keyGroup - firstKeyGroup;
        firstTimestamps[group] = firstTimestamp;
        if (positions[group] == ABSENT) {
            put(size++, group);
        }
        up(positions[group]);
        down(positions[group]);
    }

    void remove(int keyGroup) {
        int group = keyGroup - firstKeyGroup;
        int position = positions[group];
        positions[group] = ABSENT;
        int moved = heap[--size];
        if (position < size) {
            put(position, moved);
            up(position);
            down(positions[moved]);
        }
    }

    private void put(int position, int group) {
        heap[position] = group;
        positions[group] = position;
    }

    private boolean isBefore(int a, int b) {
        int order = Long.compare(firstTimestamps[a], firstTimestamps[b]);
        return order != 0 ? order < 0 : a < b;
    }

    private void up(int start) {
        int position = start;
        int group = heap[position];
        while (position > 0 && isBefore(group, heap[(position - 1) / 2])) {
            put(position, heap[(position - 1) / 2]);
            position = (position - 1) / 2;
        }
        put(position, group);
    }

    private void down(int start) {
        int position = start;
        int group = heap[position];
        for (int child = 2 * position + 1; child < size; child = 2 * position + 1) {
            if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], group)) {
                break;
            }
            put(position, heap[child]);
            position = child;
        }
        put(position, group);
    }
}
