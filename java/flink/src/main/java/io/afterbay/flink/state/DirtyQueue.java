package io.afterbay.flink.state;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Entries that were dirty when they came, in that order, each once; of fixed length. */
final class DirtyQueue<K, N, V> {
    private final @Nullable ObjectEntry<K, N, V>[] ring;
    private int head;
    private int size;

    @SuppressWarnings({"unchecked", "rawtypes"})
    DirtyQueue(int capacity) {
        ring = new ObjectEntry[capacity];
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean isFull() {
        return size == ring.length;
    }

    void add(ObjectEntry<K, N, V> entry) {
        int tail = head + size++;
        ring[tail < ring.length ? tail : tail - ring.length] = entry;
        entry.queued = true;
    }

    ObjectEntry<K, N, V> poll() {
        ObjectEntry<K, N, V> oldest = Objects.requireNonNull(ring[head]);
        ring[head] = null;
        head = head + 1 == ring.length ? 0 : head + 1;
        size--;
        oldest.queued = false;
        return oldest;
    }
}
