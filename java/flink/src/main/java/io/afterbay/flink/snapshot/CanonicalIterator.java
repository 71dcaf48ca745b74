package io.afterbay.flink.snapshot;

import java.io.IOException;
import java.util.Iterator;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a snapshot in Flink's canonical form and order: key group, then state. Every key
 * and value is an array of its own, since the writer keeps and marks them.
 */
final class CanonicalIterator implements KeyValueStateIterator {
    private final SnapshotContent<?> content;
    private final Iterator<Integer> keyGroups;
    private final int prefixBytes;

    private int keyGroup;
    private int state = -1;
    private @Nullable CanonicalEntries entries;
    private boolean newKeyGroup = true;
    private boolean newState = true;
    private boolean valid;

    CanonicalIterator(SnapshotContent<?> content) throws IOException {
        this.content = content;
        this.keyGroups = content.keyGroups().iterator();
        this.prefixBytes =
                CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(
                        content.totalKeyGroups());
        this.keyGroup = keyGroups.next();
        next();
    }

    @Override
    public void next() throws IOException {
        if (valid) {
            newKeyGroup = false;
            newState = false;
        }
        valid = false;
        while (!valid) {
            CanonicalEntries at = entries == null ? openNext() : entries;
            if (at == null) {
                return;
            }
            valid = at.next();
            if (!valid) {
                close();
            }
        }
    }

    /**
     * The entries of the next state, or of the first one in the next key group; null at the end.
     */
    private @Nullable CanonicalEntries openNext() {
        state++;
        newState = true;
        if (state == content.states().size()) {
            if (!keyGroups.hasNext()) {
                return null;
            }
            keyGroup = keyGroups.next();
            newKeyGroup = true;
            state = 0;
        }
        entries = open(content.states().get(state));
        return entries;
    }

    private CanonicalEntries open(StateImage image) {
        return image.elements() != null
                ? new CanonicalElements<>(image.elements(), keyGroup, prefixBytes)
                : new CanonicalStoreEntries(
                        image,
                        content.store().entries(image.storeName(), keyGroup),
                        keyGroup,
                        prefixBytes);
    }

    private CanonicalEntries current() {
        if (!valid || entries == null) {
            throw new IllegalStateException("the iterator is at its end");
        }
        return entries;
    }

    @Override
    public int keyGroup() {
        return keyGroup;
    }

    @Override
    public byte[] key() {
        return current().key();
    }

    @Override
    public byte[] value() {
        return current().value();
    }

    @Override
    public int kvStateId() {
        return state;
    }

    @Override
    public boolean isNewKeyValueState() {
        return newState;
    }

    @Override
    public boolean isNewKeyGroup() {
        return newKeyGroup;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    @Override
    public void close() {
        if (entries != null) {
            entries.close();
            entries = null;
        }
    }
}
