package io.afterbay.spark;

import org.apache.hadoop.conf.Configuration;

/**
 * What the session of a query has chosen.
 *
 * @param isStaggered snapshots are written in turns, see {@link StaggeredRocksDBStateStoreProvider}
 */
record QueryOptions(boolean isStaggered) {

    static QueryOptions of(Configuration settings) {
        return new QueryOptions(QuerySettings.isStaggered(settings));
    }

    static QueryOptions strict() {
        return new QueryOptions(false);
    }
}
