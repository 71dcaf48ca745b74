package io.afterbay.spark;

import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/**
 * What the session of a query has chosen.
 *
 * @param isStaggered snapshots are written in turns, see {@link StaggeredRocksDBStateStoreProvider}
 * @param isPipelined the log, too, is published behind the next batch
 * @param replayableSources classes whose sources may be read in pipelined mode, beside those known
 */
record QueryOptions(boolean isStaggered, boolean isPipelined, Set<String> replayableSources) {

    static QueryOptions of(Configuration settings) {
        return new QueryOptions(
                QuerySettings.isStaggered(settings),
                QuerySettings.isPipelined(settings),
                Set.copyOf(settings.getTrimmedStringCollection(QuerySettings.REPLAYABLE)));
    }

    static QueryOptions strict() {
        return new QueryOptions(false, false, Set.of());
    }

    static QueryOptions pipelined() {
        return new QueryOptions(false, true, Set.of());
    }
}
