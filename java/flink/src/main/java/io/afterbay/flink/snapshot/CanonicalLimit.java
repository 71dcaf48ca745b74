package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.StateShape;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import java.io.IOException;

/** A canonical savepoint carries a list as one byte array: it must fit one. */
final class CanonicalLimit {
    /** Some VMs reserve a few words of an array. */
    static final int VALUE_BYTES_MAX = Integer.MAX_VALUE - 8;

    private CanonicalLimit() {}

    static void check(SnapshotContent<?> content) throws IOException {
        for (StateImage state : content.states()) {
            if (state.shape() == StateShape.LIST && state.alignment() != null) {
                check(content, state);
            }
        }
    }

    private static void check(SnapshotContent<?> content, StateImage state) throws IOException {
        for (int keyGroup : content.keyGroups()) {
            try (EntryCursor lists = content.store().entries(state.storeName(), keyGroup)) {
                while (lists.next()) {
                    check(joinedBytes(lists.list()), state.name(), keyGroup);
                }
            }
        }
    }

    /** The elements with one byte between them. */
    static long joinedBytes(ListReader list) {
        return list.bytes() + list.size() - 1;
    }

    static void check(long bytes, String state, int keyGroup) throws IOException {
        if (bytes > VALUE_BYTES_MAX) {
            throw new IOException(
                    ("state '%s', key group %d: a list of %d bytes does not fit a canonical savepoint,"
                                    + " whose values end at %d bytes. Take a native savepoint"
                                    + " (--type native), which carries it.")
                            .formatted(state, keyGroup, bytes, VALUE_BYTES_MAX));
        }
    }
}
