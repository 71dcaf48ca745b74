package io.afterbay.kafka;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** A task of a real topology with one store, which is committed after each record. */
final class Task implements AutoCloseable {
    static final String STORE = "counts";
    private static final String INPUT = "words";
    private static final Set<String> COMPACTION_METRICS =
            Set.of("compaction-pending", "num-running-compactions");

    private final TopologyTestDriver driver;
    private final TestInputTopic<String, String> input;

    /**
     * @param options beside the config setter
     */
    Task(Path directory, int number, Map<String, ?> options) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "task-" + number);
        config.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
        config.put(
                StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG,
                DesyncRocksDBConfigSetter.class.getName());
        config.putAll(options);
        driver = new TopologyTestDriver(topology(), config);
        input = driver.createInputTopic(INPUT, new StringSerializer(), new StringSerializer());
    }

    private static Topology topology() {
        return new Topology()
                .addSource("source", new StringDeserializer(), new StringDeserializer(), INPUT)
                .addProcessor("writer", Writer::new, "source")
                .addStateStore(
                        Stores.keyValueStoreBuilder(
                                Stores.persistentKeyValueStore(STORE),
                                Serdes.String(),
                                Serdes.String()),
                        "writer");
    }

    private static final class Writer implements Processor<String, String, Void, Void> {
        private static final int KEYS = 100;
        private KeyValueStore<String, String> store;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore(STORE);
        }

        /** Writes over what is there. */
        @Override
        public void process(Record<String, String> record) {
            for (int i = 0; i < KEYS; i++) {
                store.put(record.key() + i, record.value());
            }
        }
    }

    void commit(int round) {
        input.pipeInput("key", "value " + round);
    }

    /** Whether a compaction waits or runs, as RocksDB itself says: listeners hear of it later. */
    boolean isCompacting() {
        return driver.metrics().entrySet().stream()
                .filter(metric -> COMPACTION_METRICS.contains(metric.getKey().name()))
                .anyMatch(metric -> ((Number) metric.getValue().metricValue()).longValue() > 0);
    }

    String get(String key) {
        return driver.<String, String>getKeyValueStore(STORE).get(key);
    }

    @Override
    public void close() {
        driver.close();
    }
}
