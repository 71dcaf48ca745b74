package io.afterbay.store.testkit;

import java.util.Iterator;

/** One state as a snapshot keeps it. */
interface FrozenState {
    Iterator<Row> entries(int keyGroup);

    /** As {@link #entries}, lists in pieces. */
    Iterator<Row> fragments(int keyGroup);
}
