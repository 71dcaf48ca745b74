package io.afterbay.spark;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBConf;
import org.apache.spark.sql.execution.streaming.state.RocksDBEventForwarder;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import scala.Option;

/**
 * Spark's state store, but partitions do not all flush and write their snapshot in the same batch:
 * they take turns. Named in {@code spark.sql.streaming.stateStore.providerClass}, together with
 * {@link AfterbayCheckpointFileManager}, which keeps the name out of the checkpoint; see
 * docs/adr/0035. Files and their content are Spark's.
 */
public final class StaggeredRocksDBStateStoreProvider extends RocksDBStateStoreProvider {
    @Override
    public RocksDB createRocksDB(
            String directory,
            RocksDBConf conf,
            File localDirectory,
            Configuration hadoopConf,
            String loggingId,
            boolean useColumnFamilies,
            boolean enableStateStoreCheckpointIds,
            int partitionId,
            Option<RocksDBEventForwarder> eventForwarder,
            Option<String> uniqueId) {
        QuerySettings.requireFileManager(hadoopConf);
        return new StaggeredRocksDB(
                SnapshotTurns.of(stateStoreId(), conf.minDeltasForSnapshot()),
                directory,
                conf,
                localDirectory,
                hadoopConf,
                loggingId,
                useColumnFamilies,
                enableStateStoreCheckpointIds,
                partitionId,
                eventForwarder,
                uniqueId);
    }
}
