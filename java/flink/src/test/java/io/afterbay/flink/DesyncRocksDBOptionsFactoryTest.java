package io.afterbay.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.state.rocksdb.ConfigurableRocksDBOptionsFactory;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.RocksDB;

class DesyncRocksDBOptionsFactoryTest {
    private final List<AutoCloseable> handles = new ArrayList<>();

    @BeforeAll
    static void load() {
        RocksDB.loadLibrary();
    }

    @AfterEach
    void close() {
        handles.forEach(IOUtils::closeQuietly);
        assertThat(Desync.metrics(Env.getDefault())).isNull();
    }

    /** The user's. */
    public static final class OwnFactory implements ConfigurableRocksDBOptionsFactory {
        private static final long serialVersionUID = 1L;
        private int trigger = 5;

        @Override
        public RocksDBOptionsFactory configure(ReadableConfig config) {
            OwnFactory result = new OwnFactory();
            result.trigger = 6;
            return result;
        }

        @Override
        public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> handles) {
            return options.setMaxBackgroundJobs(7);
        }

        @Override
        public ColumnFamilyOptions createColumnOptions(
                ColumnFamilyOptions options, Collection<AutoCloseable> handles) {
            return options.setLevel0FileNumCompactionTrigger(trigger);
        }
    }

    private static DesyncRocksDBOptionsFactory factory(String... keysAndValues) {
        return new DesyncRocksDBOptionsFactory().configure(configuration(keysAndValues));
    }

    private static Configuration configuration(String... keysAndValues) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            options.put(DesyncOptions.PREFIX + keysAndValues[i], keysAndValues[i + 1]);
        }
        return Configuration.fromMap(options);
    }

    private int trigger(RocksDBOptionsFactory factory) {
        ColumnFamilyOptions options = new ColumnFamilyOptions();
        handles.add(options);
        return factory.createColumnOptions(options, handles).level0FileNumCompactionTrigger();
    }

    private int maxJobs(RocksDBOptionsFactory factory) {
        DBOptions options = new DBOptions();
        handles.add(options);
        return factory.createDBOptions(options, handles).maxBackgroundJobs();
    }

    @Test
    void isOneInstanceForTheOptionsOfABackend() {
        DesyncRocksDBOptionsFactory factory = factory();
        int before = maxJobs(factory);
        int trigger = trigger(factory);
        assertThat(before).isEqualTo(2);
        assertThat(trigger).isBetween(4, 7).isEqualTo(trigger(factory));
        DesyncMetrics metrics = Desync.metrics(Env.getDefault());
        assertThat(metrics).isNotNull();
        assertThat(metrics.instances()).isEqualTo(1);
    }

    @Test
    void subtasksOfAnOperatorHaveDifferentTriggersAndKeepThem() {
        List<Integer> quarters = new ArrayList<>();
        for (int subtask = 1; subtask <= 16; subtask++) {
            double phase =
                    DesyncRocksDBOptionsFactory.phase("Sum -> Sink (%d/16)#0".formatted(subtask));
            assertThat(phase)
                    .isEqualTo(
                            DesyncRocksDBOptionsFactory.phase(
                                    "Sum -> Sink (%d/16)#3".formatted(subtask)));
            quarters.add((int) (phase * 4));
        }
        for (int quarter = 0; quarter < 4; quarter++) {
            int value = quarter;
            assertThat(quarters.stream().filter(each -> each == value).count()).isBetween(3L, 5L);
        }
        assertThat(DesyncRocksDBOptionsFactory.phase("Sum (1/2)#0"))
                .isNotEqualTo(DesyncRocksDBOptionsFactory.phase("Count (1/2)#0"));
        assertThat(DesyncRocksDBOptionsFactory.phase("main")).isBetween(0.0, 1.0);
    }

    @Test
    void asksTheUsersFactoryFirst() throws Exception {
        DesyncRocksDBOptionsFactory factory =
                factory("options-factory", OwnFactory.class.getName(), "trigger-spread", "false");
        assertThat(trigger(factory)).isEqualTo(6); // configured, too
        assertThat(maxJobs(factory)).isEqualTo(7);
        assertThat(trigger(InstantiationUtil.clone(factory))).isEqualTo(6);
        handles.forEach(IOUtils::closeQuietly);
        handles.clear();
        assertThat(trigger(factory("options-factory", OwnFactory.class.getName()))).isBetween(6, 9);
    }

    @Test
    void goesAroundAFactoryThatAProgramSets() {
        RocksDBOptionsFactory factory =
                new DesyncRocksDBOptionsFactory(new OwnFactory())
                        .configure(configuration("trigger-spread", "false"));
        assertThat(trigger(factory)).isEqualTo(6);
    }

    @ParameterizedTest
    @CsvSource({
        "trigger-spread, maybe, true or false",
        "gate, perhaps, true or false",
        "gate.deadline, 10 ms, a duration from 100 ms to 1 min",
        "gate.deadline, 2 min, a duration from 100 ms to 1 min",
        "gate.deadline, soon, a duration from 100 ms to 1 min",
        "gate.delay, 3 s, 'a duration from 0 to less than state.backend.rocksdb.desync.gate.deadline, which is 3 s'",
        "gate.delay, later, a duration from 0 to less than",
        "compaction-threads, 0, 'default, auto, or 1 to 256'",
        "compaction-threads, 257, 'default, auto, or 1 to 256'",
        "compaction-threads, many, 'default, auto, or 1 to 256'",
        "flush-threads, 0, 'default, auto, or 1 to 256'",
        "options-factory, java.lang.String, a class that the job can load",
        "options-factory, io.afterbay.flink.DesyncRocksDBOptionsFactory, a class that the job can load",
        "gates, true, state.backend.rocksdb.desync.gate"
    })
    void refusesValues(String option, String value, String allowed) {
        assertThatThrownBy(() -> factory(option, value))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(DesyncOptions.PREFIX + option)
                .hasMessageContaining(value)
                .hasMessageContaining(allowed);
    }

    /** The JobManager configures backends without the job's classes. */
    @Test
    void missesTheUsersFactoryOnlyWhereOptionsAreMade() {
        RocksDBOptionsFactory factory = factory("options-factory", "com.example.Missing");
        assertThatThrownBy(() -> maxJobs(factory)).hasMessageContaining("com.example.Missing");
        assertThatThrownBy(() -> trigger(factory))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(DesyncOptions.OPTIONS_FACTORY.key())
                .hasMessageContaining("com.example.Missing")
                .hasMessageContaining("a class that the job can load");
    }

    /** As in a Flink without RocksDB in {@code lib/}. */
    private static final class WithoutRocksDB extends ClassLoader {
        WithoutRocksDB() {
            super(WithoutRocksDB.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.rocksdb.")
                    || name.startsWith("org.apache.flink.state.rocksdb")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("io.afterbay.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    @Test
    void theStateBackendNeedsNoClassOfRocksDB() throws Exception {
        ClassLoader loader = new WithoutRocksDB();
        Object factory =
                loader.loadClass(AfterbayStateBackendFactory.class.getName())
                        .getDeclaredConstructor()
                        .newInstance();
        Object backend =
                factory.getClass()
                        .getMethod("createFromConfig", ReadableConfig.class, ClassLoader.class)
                        .invoke(factory, new Configuration(), loader);
        assertThat(backend.getClass().getClassLoader()).isSameAs(loader);
        loader.loadClass(DesyncOptions.class.getName()).getMethod("all").invoke(null);
        assertThatThrownBy(() -> loader.loadClass(DesyncRocksDBOptionsFactory.class.getName()))
                .isInstanceOf(NoClassDefFoundError.class);
    }
}
