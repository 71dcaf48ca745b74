package io.afterbay.spark;

import java.io.File;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBConf;
import org.apache.spark.sql.execution.streaming.state.RocksDBEventForwarder;
import scala.Option;

/**
 * Spark's RocksDB, with snapshots in turns. Spark asks its settings with each commit whether enough
 * versions have passed since the last snapshot; the answer is here that any are enough, or that
 * none are. Should a store miss its turn, it does not wait for longer than two periods.
 */
final class StaggeredRocksDB extends RocksDB {
    private static final String DELTAS = "minDeltasForSnapshot";

    private final SnapshotTurns turns;
    private final RocksDBConf due;
    private final RocksDBConf notDue;

    /** Whether they are there: not while the constructor of the superclass runs. */
    private volatile boolean isReady;

    StaggeredRocksDB(
            SnapshotTurns turns,
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
        super(
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
        this.turns = turns;
        this.due = withDeltas(conf, 1);
        this.notDue = withDeltas(conf, 2 * turns.period());
        this.isReady = true;
    }

    /**
     * Asked by Spark each time that it needs a setting, also while it is constructed. Nothing else
     * is overridden: a commit has other parameters in Spark 4.1 than in 4.2. In all of them it asks
     * while the version before it is loaded.
     */
    @Override
    public RocksDBConf conf() {
        if (!isReady) {
            return super.conf();
        }
        return turns.isDue(loadedVersion() + 1) ? due : notDue;
    }

    /**
     * A copy with another number. By names, since the settings of other releases are more or fewer.
     *
     * @throws IllegalStateException if Spark has no such setting any more
     */
    static RocksDBConf withDeltas(RocksDBConf conf, int deltas) {
        Object[] values = new Object[conf.productArity()];
        boolean isFound = false;
        for (int i = 0; i < values.length; i++) {
            boolean isDeltas = conf.productElementName(i).equals(DELTAS);
            values[i] = isDeltas ? deltas : conf.productElement(i);
            isFound |= isDeltas;
        }
        if (!isFound) {
            throw new IllegalStateException("no " + DELTAS + " in " + conf);
        }
        return create(values);
    }

    private static RocksDBConf create(Object[] values) {
        Constructor<?> all =
                Arrays.stream(RocksDBConf.class.getConstructors())
                        .filter(c -> c.getParameterCount() == values.length)
                        .findFirst()
                        .orElseThrow();
        try {
            return (RocksDBConf) all.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Spark's RocksDBConf cannot be copied", e);
        }
    }
}
