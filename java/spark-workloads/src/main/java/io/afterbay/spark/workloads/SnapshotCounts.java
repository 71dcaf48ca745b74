package io.afterbay.spark.workloads;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBMetrics;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * How many stores made a snapshot at the end of each batch: flushed RocksDB and wrote a checkpoint
 * to the local disk, within the task. Spark reports how long that takes in all partitions together,
 * and not in how many of them; but all stores are in this process, and each knows how its last
 * commit went.
 */
final class SnapshotCounts {
    /** What {@code RocksDB.commit} says it has done, if it has. */
    private static final String CHECKPOINT = "checkpoint";

    private final String checkpoint;
    private final Map<Long, Integer> byBatch = new ConcurrentHashMap<>();

    /**
     * @param checkpoint of the query; stores of others may still be loaded
     */
    SnapshotCounts(String checkpoint) {
        this.checkpoint = checkpoint;
    }

    /** The tasks of a batch have ended, and none of the next has begun. */
    void ended(long batch) {
        long made = stores().stream().filter(store -> hasSnapshot(store, batch + 1)).count();
        byBatch.put(batch, (int) made);
    }

    /** 0 if nothing is known of the batch. */
    int of(long batch) {
        return byBatch.getOrDefault(batch, 0);
    }

    private boolean hasSnapshot(RocksDBStateStoreProvider store, long version) {
        RocksDB rocksDb = store.rocksDB();
        Option<RocksDBMetrics> metrics = rocksDb.metricsOpt();
        return store.stateStoreId().checkpointRootLocation().contains(checkpoint + "/")
                && rocksDb.loadedVersion() == version
                && metrics.isDefined()
                && metrics.get().lastCommitLatencyMs().contains(CHECKPOINT);
    }

    private static List<RocksDBStateStoreProvider> stores() {
        scala.collection.mutable.HashMap<?, ?> providers = providers();
        synchronized (providers) {
            return CollectionConverters.asJava(providers).values().stream()
                    .map(RocksDBStateStoreProvider.class::cast)
                    .toList();
        }
    }

    private static scala.collection.mutable.HashMap<?, ?> providers() {
        try {
            Field loaded = StateStore$.class.getDeclaredField("loadedProviders");
            loaded.setAccessible(true);
            return (scala.collection.mutable.HashMap<?, ?>) loaded.get(StateStore$.MODULE$);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Spark keeps its state stores elsewhere", e);
        }
    }
}
