package io.afterbay.spark;

import java.io.File;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.RocksDBConf;
import org.apache.spark.sql.execution.streaming.state.RocksDBEventForwarder;
import org.apache.spark.sql.execution.streaming.state.StateStoreCheckpointInfo;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Tuple2;

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

    /** Null while the constructor of the superclass runs. */
    private volatile @Nullable RocksDBConf now;

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
        this.now = notDue;
    }

    /** Asked by Spark each time that it needs a setting, also while it is constructed. */
    @Override
    public RocksDBConf conf() {
        RocksDBConf answer = now;
        return answer == null ? super.conf() : answer;
    }

    @Override
    public Tuple2<Object, StateStoreCheckpointInfo> commit(boolean forceSnapshot) {
        now = turns.isDue(loadedVersion() + 1) ? due : notDue;
        return super.commit(forceSnapshot);
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
