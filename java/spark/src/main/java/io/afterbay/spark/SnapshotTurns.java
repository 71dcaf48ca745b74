package io.afterbay.spark;

import org.apache.spark.sql.execution.streaming.state.StateStoreId;

/**
 * Which versions of a store get a snapshot: each {@code period}th, in turns. With as many stores as
 * the period, one of them has its turn with each version, instead of all together with each tenth.
 *
 * <p>Made from the store's names, so that it is the same after a restart and on another executor.
 *
 * @param period versions from snapshot to snapshot, 1 or more
 * @param turn from 0 to below the period
 */
record SnapshotTurns(int period, int turn) {

    /** Partitions of a store follow each other; other stores and operators begin elsewhere. */
    static SnapshotTurns of(StateStoreId store, int period) {
        return of(store.operatorId(), store.storeName(), store.partitionId(), period);
    }

    static SnapshotTurns of(long operator, String store, int partition, int period) {
        int valid = Math.max(1, period);
        int begin = mixed(31 * Long.hashCode(operator) + store.hashCode());
        return new SnapshotTurns(valid, Math.floorMod((long) begin + partition, valid));
    }

    /** Neighbours far apart, whatever the period. */
    private static int mixed(int hash) {
        int spread = hash * 0x9E3779B9;
        return spread ^ (spread >>> 16);
    }

    boolean isDue(long version) {
        return Math.floorMod(version - turn, (long) period) == 0;
    }
}
