package io.afterbay.store.testkit;

/**
 * One operation of a random run, as plain numbers, so that a run can be shrunk and repeated.
 *
 * @param place which key and namespace
 * @param size of a value or element, in bytes
 * @param extra a user key, a second namespace, a seed: what the kind needs
 */
record Step(Kind kind, int place, int size, int extra) {

    /** What a step does, and how often relative to the others. */
    enum Kind {
        PUT(8),
        GET(4),
        REMOVE(4),
        BULK_PUT(3),
        BULK_REMOVE(1),
        APPEND(10),
        BULK_APPEND(2),
        SPREAD_APPEND(3),
        READ_LIST(5),
        READ_AHEAD(3),
        HOLD_READER(3),
        CHECK_READERS(2),
        RELEASE_READERS(2),
        CLEAR_LIST(4),
        BULK_CLEAR_LISTS(1),
        MERGE(6),
        MAP_PUT(8),
        MAP_BULK_PUT(2),
        MAP_GET(4),
        MAP_REMOVE(4),
        MAP_CLEAR(2),
        MAP_ITERATE(2),
        ADD_TRIGGER(6),
        BULK_TRIGGERS(2),
        REMOVE_TRIGGER(3),
        PEEK(3),
        UPCOMING(2),
        POLL(4),
        POLL_MANY(2),
        SNAPSHOT(3),
        CHECK_SNAPSHOT(2),
        READ_SNAPSHOT_ASIDE(2),
        CLOSE_SNAPSHOT(2),
        SCAN(2),
        COMPARE_ALL(1),
        DROP(1),
        REOPEN(1);

        final int weight;

        Kind(int weight) {
            this.weight = weight;
        }
    }
}
