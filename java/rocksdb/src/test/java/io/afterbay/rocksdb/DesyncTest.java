package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.maintenance.Spread;
import io.afterbay.testing.Await;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.Env;
import org.rocksdb.FlushJobInfo;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/** Triggers, counters and what JMX shows, with real databases. */
class DesyncTest {
    private static final int INSTANCES = 8;
    private static final int CHECKPOINTS = 14;

    @TempDir Path folder;

    /** A listener of the user's. */
    private static final class FlushCount extends AbstractEventListener {
        final AtomicInteger flushes = new AtomicInteger();

        @Override
        public void onFlushCompleted(RocksDB db, FlushJobInfo info) {
            flushes.incrementAndGet();
        }
    }

    private static DesyncInstance open(double phase, DesyncSettings settings) {
        return Desync.open(Env.getDefault(), phase, settings);
    }

    private static DesyncMetrics metrics() {
        return Desync.metrics(Env.getDefault());
    }

    @Test
    void spreadTriggersSpreadCompactions() throws Exception {
        long aligned = mostCompactionsOfACheckpoint(false);
        long spread = mostCompactionsOfACheckpoint(true);
        assertThat(aligned).isEqualTo(INSTANCES);
        assertThat(spread).isBetween(1L, INSTANCES / 2L);
    }

    /**
     * With checkpoints of all instances, each of which waits until the compactions are done. Counts
     * by itself: on a busy machine the flushes of one checkpoint may be so far apart that they are
     * two bursts.
     */
    private long mostCompactionsOfACheckpoint(boolean isSpread) throws Exception {
        DesyncSettings settings =
                new DesyncSettings(isSpread, false, 3_000_000_000L, CompactionThreads.DEFAULT);
        List<DesyncInstance> instances = new ArrayList<>();
        List<Database> databases = new ArrayList<>();
        for (int i = 0; i < INSTANCES; i++) {
            instances.add(open(Spread.of("operator", i), settings));
            databases.add(new Database(folder.resolve(isSpread + "-" + i), instances.get(i)));
        }
        long most = 0;
        for (int i = 0; i < CHECKPOINTS; i++) {
            long before = metrics().compactionsBegan();
            for (Database database : databases) {
                database.checkpoint();
            }
            for (Database database : databases) {
                Await.until("compaction ends", () -> !database.isCompacting());
            }
            Await.until("the burst is over", () -> !metrics().isBurst());
            most = Math.max(most, metrics().compactionsBegan() - before);
        }
        DesyncMetrics metrics = metrics();
        databases.forEach(Database::close);
        instances.forEach(DesyncInstance::close);
        assertThat(metrics.flushesBegan()).isEqualTo(INSTANCES * CHECKPOINTS);
        assertThat(metrics.bursts()).isGreaterThanOrEqualTo(CHECKPOINTS);
        assertThat(metrics.holds()).isZero();
        return most;
    }

    @Test
    void addsToTheUsersTriggerAndListeners() throws Exception {
        FlushCount users = new FlushCount();
        try (DesyncInstance instance = open(0.9, DesyncSettings.defaults());
                Database database =
                        new Database(
                                folder.resolve("db"),
                                options -> {
                                    options.setListeners(List.of(users));
                                    instance.configure(options);
                                    instance.configure(options);
                                },
                                options -> {
                                    options.setLevel0FileNumCompactionTrigger(6);
                                    instance.configure(options);
                                })) {
            assertThat(database.trigger()).isEqualTo(9);
            database.checkpoint();
            Await.until("the flush has ended", () -> metrics().flushes() == 0);
            assertThat(metrics().flushesBegan()).isEqualTo(1);
            Await.until("the user's listener is called", () -> users.flushes.get() == 1);
        }
    }

    @Test
    void leavesTriggersAloneWithoutSpread() throws Exception {
        DesyncSettings settings =
                new DesyncSettings(false, false, 3_000_000_000L, CompactionThreads.DEFAULT);
        try (DesyncInstance instance = open(0.9, settings);
                Database database = new Database(folder.resolve("db"), instance)) {
            assertThat(database.trigger()).isEqualTo(4);
        }
    }

    /** Of engines that have one object for the options of the database and of its families. */
    @Test
    void configuresOptionsOfBothKinds() {
        try (DesyncInstance instance = open(0.9, DesyncSettings.defaults());
                Options options = new Options()) {
            assertThat(instance.configure(options).level0FileNumCompactionTrigger()).isEqualTo(7);
            assertThat(options.listeners()).hasSize(1);
        }
    }

    /** As Kafka Streams does. */
    @Test
    void whatADatabaseDoesAfterItsInstanceIsClosedIsNotCounted() throws Exception {
        try (DesyncInstance other = open(0.1, DesyncSettings.defaults());
                DesyncInstance instance = open(0.9, DesyncSettings.defaults());
                Database database = new Database(folder.resolve("db"), instance)) {
            database.checkpoint();
            Await.until("the flush has ended", () -> metrics().flushes() == 0);
            instance.close();
            database.checkpoint();
            assertThat(metrics().flushesBegan()).isEqualTo(1);
            assertThat(metrics().flushes()).isZero();
            assertThat(metrics().instances()).isEqualTo(1);
            assertThat(other.processMetrics().hasFailed()).isFalse();
        }
    }

    @Test
    void metricsAreThereForJmxWhileInstancesAreOpen() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName(RecordMBean.NAME);
        try (DesyncInstance instance = open(0.9, DesyncSettings.defaults());
                Database database = new Database(folder.resolve("db"), instance)) {
            database.checkpoint();
            assertThat(server.getAttribute(name, "flushesBegan")).isEqualTo(1L);
            assertThat(server.getAttribute(name, "instances")).isEqualTo(1);
            assertThat(server.getMBeanInfo(name).getAttributes())
                    .hasSize(DesyncMetrics.class.getRecordComponents().length);
            RecordMBean second = RecordMBean.register(DesyncMetrics.class, () -> metrics());
            assertThat(server.queryNames(new ObjectName(RecordMBean.NAME + ",*"), null)).hasSize(2);
            second.unregister();
        }
        assertThat(server.isRegistered(name)).isFalse();
        assertThat(Desync.metrics(Env.getDefault())).isNull();
    }
}
