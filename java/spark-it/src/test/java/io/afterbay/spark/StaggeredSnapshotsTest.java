package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.RocksDBMetrics;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStore$;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Snapshots of partitions in turns, on Spark: when they are made, and what becomes of the state.
 */
class StaggeredSnapshotsTest {
    private static final int PARTITIONS = 4;
    private static final int PERIOD = 4;
    private static final int OPERATORS = 2;
    private static final long BATCHES = 12;
    private static SparkSession spark;

    @TempDir static Path all; // until Spark's maintenance, too, has ended
    private Path dir;
    private TransactionalSink sink;
    private StatefulQuery query;

    /** By operator and batch: how many partitions have made a snapshot at its end. */
    private final Map<Long, Map<Long, Integer>> snapshots = new HashMap<>();

    @BeforeAll
    static void startSpark() {
        spark =
                TestSpark.builder()
                        .config("spark.sql.shuffle.partitions", PARTITIONS)
                        .config(
                                "spark.sql.streaming.stateStore.minDeltasForSnapshot",
                                Integer.toString(PERIOD))
                        .getOrCreate();
    }

    @AfterAll
    static void stopSpark() {
        StateStore.stop();
        spark.stop();
    }

    @BeforeEach
    void create() throws Exception {
        dir = Files.createTempDirectory(all, "test");
        sink = new TransactionalSink(Files.createDirectory(dir.resolve("sink")));
        query = new StatefulQuery(dir.resolve("checkpoint"), sink);
    }

    @Test
    void partitionsTakeTurns() throws Exception {
        sink.afterEach(this::count);
        query.runTo(staggered(), BATCHES);
        assertThat(snapshots).hasSize(OPERATORS);
        for (Map<Long, Integer> byBatch : snapshots.values()) {
            assertThat(byBatch.values()).containsOnly(1); // at once
            assertThat(byBatch).hasSizeBetween((int) BATCHES - PERIOD, (int) BATCHES + 1);
        }
        checkRows();
    }

    /** The control. */
    @Test
    void withSparksOwnClassTheyAllFlushInTheSameBatch() throws Exception {
        sink.afterEach(this::count);
        query.runTo(ours(), BATCHES);
        assertThat(snapshots).hasSize(OPERATORS);
        for (Map<Long, Integer> byBatch : snapshots.values()) {
            assertThat(byBatch.values()).containsOnly(PARTITIONS);
            assertThat(byBatch).hasSizeBetween((int) BATCHES / PERIOD - 1, (int) BATCHES / PERIOD);
        }
    }

    @Test
    void comesAndGoesWithoutATrace() throws Exception {
        query.runTo(vanilla(), 4);
        sink.afterEach(this::count);
        query.runTo(staggered(), 10); // in a checkpoint whose log names Spark's class
        assertThat(snapshots.get(0L).values()).containsOnly(1);
        query.runTo(staggered(), 12);
        TestSpark.drain(dir.resolve("checkpoint"));
        checkLogNamesSparksClass();
        sink.afterEach(batch -> {});
        query.runTo(vanilla(), 16);
        checkRows();
    }

    @Test
    void refusesToWriteItsNameIntoACheckpointForEver() {
        SparkSession session = vanilla();
        session.conf().set(QuerySettings.PROVIDER, QuerySettings.STAGGERED);
        assertThatThrownBy(() -> query.start(session).awaitTermination())
                .hasStackTraceContaining("works with Afterbay's file manager only");
    }

    /** If this fails, Spark has learned it: then docs/spark.md need not say so. */
    @Test
    void sparkRefusesItForTransformWithState() {
        StatefulQuery processor =
                new StatefulQuery(
                        QueryKind.PROCESSOR,
                        dir.resolve("checkpoint").toString(),
                        sink,
                        StatefulQuery::generated);
        assertThatThrownBy(() -> processor.start(staggered()).awaitTermination())
                .hasStackTraceContaining("STORE_BACKEND_NOT_SUPPORTED_FOR_TWS");
    }

    private static SparkSession vanilla() {
        return TestSpark.vanilla(spark);
    }

    private static SparkSession ours() {
        return spark.newSession();
    }

    private static SparkSession staggered() {
        SparkSession session = ours();
        session.conf()
                .set(QuerySettings.PROVIDER, StaggeredRocksDBStateStoreProvider.class.getName());
        return session;
    }

    private void checkRows() throws Exception {
        List<String> rows = sink.rows();
        assertThat(rows).hasSizeGreaterThan(4).isEqualTo(StatefulQuery.expected(rows.size()));
    }

    private void checkLogNamesSparksClass() throws Exception {
        try (Stream<Path> offsets = Files.list(dir.resolve("checkpoint/offsets"))) {
            for (Path file : offsets.filter(f -> !f.toString().endsWith(".crc")).toList()) {
                assertThat(file).content().contains(QuerySettings.ROCKSDB);
                assertThat(file).content().doesNotContain("afterbay");
            }
        }
    }

    /** All stores are in this process; each knows how its last commit went. */
    private void count(long batch) throws ReflectiveOperationException {
        if (batch > BATCHES) {
            return; // the query goes on until it is stopped
        }
        for (RocksDBStateStoreProvider store : stores()) {
            Option<RocksDBMetrics> metrics = store.rocksDB().metricsOpt();
            if (isOf(batch, store)
                    && metrics.isDefined()
                    && metrics.get().lastCommitLatencyMs().contains("checkpoint")) {
                snapshots
                        .computeIfAbsent(store.stateStoreId().operatorId(), o -> new TreeMap<>())
                        .merge(batch, 1, Integer::sum);
            }
        }
    }

    /** Those of other tests and of runs before may still be loaded. */
    private boolean isOf(long batch, RocksDBStateStoreProvider store) {
        return store.stateStoreId().checkpointRootLocation().contains(dir.toString())
                && store.rocksDB().loadedVersion() == batch + 1;
    }

    private static List<RocksDBStateStoreProvider> stores() throws ReflectiveOperationException {
        Field loaded = StateStore$.class.getDeclaredField("loadedProviders");
        loaded.setAccessible(true);
        scala.collection.mutable.HashMap<?, ?> providers =
                (scala.collection.mutable.HashMap<?, ?>) loaded.get(StateStore$.MODULE$);
        synchronized (providers) {
            return CollectionConverters.asJava(providers).values().stream()
                    .map(RocksDBStateStoreProvider.class::cast)
                    .toList();
        }
    }
}
