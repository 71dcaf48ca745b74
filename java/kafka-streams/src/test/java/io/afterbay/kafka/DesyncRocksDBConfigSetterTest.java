package io.afterbay.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.Priority;
import org.rocksdb.RocksDB;

class DesyncRocksDBConfigSetterTest {
    @TempDir Path folder;

    @BeforeAll
    static void load() {
        RocksDB.loadLibrary();
    }

    @AfterEach
    void everythingIsGivenBack() {
        assertThat(metrics()).isNull();
    }

    private static DesyncMetrics metrics() {
        return Desync.metrics(Env.getDefault());
    }

    private static int low() {
        return Env.getDefault().getBackgroundThreads(Priority.LOW);
    }

    /** The user's. */
    public static final class OwnSetter implements RocksDBConfigSetter {
        static final List<String> CALLS = new ArrayList<>();

        @Override
        public void setConfig(String storeName, Options options, Map<String, Object> configs) {
            CALLS.add("set " + storeName + " " + configs.get("mine"));
            options.setLevel0FileNumCompactionTrigger(6);
        }

        @Override
        public void close(String storeName, Options options) {
            CALLS.add("close " + storeName);
        }
    }

    private static int trigger(
            DesyncRocksDBConfigSetter setter, String store, Map<String, Object> configs) {
        try (Options options = new Options()) {
            setter.setConfig(store, options, configs);
            return options.level0FileNumCompactionTrigger();
        }
    }

    private static void close(DesyncRocksDBConfigSetter setter, String store) {
        try (Options options = new Options()) {
            setter.close(store, options);
        }
    }

    @Test
    void theOpenStoresOfANameHaveEvenlySpreadTriggersAlsoAfterSomeWereClosed() {
        List<DesyncRocksDBConfigSetter> setters = new ArrayList<>();
        List<Integer> triggers = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            setters.add(new DesyncRocksDBConfigSetter());
            triggers.add(trigger(setters.get(i), "counts", Map.of()));
        }
        for (int value = 4; value <= 7; value++) {
            int each = value;
            assertThat(triggers.stream().filter(t -> t == each).count()).isBetween(3L, 5L);
        }
        for (int moved : new int[] {11, 3}) {
            close(setters.get(moved), "counts");
            setters.set(moved, new DesyncRocksDBConfigSetter());
            assertThat(trigger(setters.get(moved), "counts", Map.of()))
                    .isEqualTo(triggers.get(moved));
        }
        setters.forEach(setter -> close(setter, "counts"));
    }

    @Test
    void asksTheUsersSetterFirst() {
        DesyncRocksDBConfigSetter setter = new DesyncRocksDBConfigSetter();
        Map<String, Object> configs =
                Map.of("mine", "7", DesyncConfig.CONFIG_SETTER, OwnSetter.class.getName());
        assertThat(trigger(setter, "counts", configs)).isBetween(6, 9);
        close(setter, "counts");
        assertThat(OwnSetter.CALLS).containsExactly("set counts 7", "close counts");
    }

    @Test
    void leavesTriggersAloneWithoutSpread() {
        DesyncRocksDBConfigSetter setter = new DesyncRocksDBConfigSetter();
        Map<String, Object> configs = Map.of(DesyncConfig.TRIGGER_SPREAD, "false");
        assertThat(trigger(setter, "counts", configs)).isEqualTo(4);
        close(setter, "counts");
        close(setter, "counts");
    }

    @Test
    void wrongValuesEndTheApplicationWithTheKey() {
        assertThatThrownBy(() -> new Task(folder, 0, Map.of(DesyncConfig.GATE_DEADLINE_MS, "10")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(DesyncConfig.GATE_DEADLINE_MS)
                .hasMessageContaining("100 to 60000");
    }

    /** Kafka Streams sets the threads of the process whenever it opens a store. */
    @Test
    void threadsStayAsTheyShouldBeWhenStoresOpen() throws Exception {
        Map<String, String> one = Map.of(DesyncConfig.COMPACTION_THREADS, "1");
        try (Task first = new Task(folder, 0, one)) {
            Await.until("one thread", () -> low() == 1);
            try (Task second = new Task(folder, 1, one)) {
                second.commit(0);
                assertThat(metrics().instances()).isEqualTo(2);
                Await.until("one thread again", () -> low() == 1 && metrics().reassertions() > 0);
            }
            first.commit(0);
            assertThat(metrics().instances()).isEqualTo(1);
        }
        assertThat(low()).isEqualTo(Math.max(2, Runtime.getRuntime().availableProcessors()));
    }

    /** Also while the gate holds, whose burst one store's commits go on with. */
    @Test
    void theGateHoldsWhereCommitsFlushAndStoresKeepTheirContent() throws Exception {
        Map<String, Object> gate =
                Map.of(DesyncConfig.GATE, true, DesyncConfig.GATE_DEADLINE_MS, 500L);
        try (Task first = new Task(folder, 0, gate)) {
            int round = 0;
            for (; round < 40 || isReassertionMissing(); round++) {
                first.commit(round);
                try (Task opened = new Task(folder, 1, gate)) {
                    opened.commit(round);
                }
            }
            assertThat(metrics().hasFailed()).isFalse();
            if (KafkaVersion.flushesAtCommits()) {
                assertThat(metrics().holds()).isPositive();
            } else {
                assertThat(metrics().holds()).isZero();
            }
            assertThat(first.get("key99")).isEqualTo("value " + (round - 1));
        }
        assertThat(low()).isPositive();
    }

    /** On a busy machine, none may hold long enough for a store to be opened meanwhile. */
    private static boolean isReassertionMissing() {
        return KafkaVersion.flushesAtCommits() && metrics().reassertions() == 0;
    }

    /** As Kafka Streams does with one whose store could not be opened. */
    @Test
    void aSetterThatIsDroppedIsClosedByTheCollector() throws Exception {
        trigger(new DesyncRocksDBConfigSetter(), "counts", Map.of());
        assertThat(metrics()).isNotNull();
        Await.until(
                "the collector finds it",
                () -> {
                    System.gc();
                    return metrics() == null;
                });
    }
}
