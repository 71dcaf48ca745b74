package io.afterbay.kafka.workloads;

import io.afterbay.kafka.DesyncRocksDBConfigSetter;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The topology of word count, and how it is run.
 *
 * <pre>
 *   NAME-words --> by word --> NAME-...-repartition --> count (RocksDB) --> NAME-counts
 * </pre>
 *
 * <p>Records are not cached: each word makes one result, the count with it. Headers go along.
 */
final class WordCount {
    private static final List<String> LOGIN = List.of("security.", "sasl.", "ssl.");

    private WordCount() {}

    /** Takes words as values. */
    static String input(String name) {
        return name + "-words";
    }

    /** Has words as keys, and counts as values of eight bytes. */
    static String output(String name) {
        return name + "-counts";
    }

    static Topology topology(String name) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(input(name), Consumed.with(Serdes.ByteArray(), Serdes.String()))
                .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
                .count(
                        Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                                .withCachingDisabled())
                .toStream()
                .to(output(name), Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }

    /** What every client needs to reach the broker: its address, and a login if that is set. */
    static Map<String, Object> clients(WordCountPlan plan) {
        Map<String, Object> config = new HashMap<>();
        config.put(
                CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
                Objects.requireNonNull(plan.bootstrap(), "a broker"));
        plan.settings()
                .forEach(
                        (key, value) -> {
                            if (LOGIN.stream().anyMatch(key::startsWith)) {
                                config.put(key, value);
                            }
                        });
        return config;
    }

    /**
     * @param state where stores have their files
     */
    static Properties config(WordCountPlan plan, Path state) {
        Properties config = new Properties();
        config.putAll(clients(plan));
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, plan.name());
        config.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, plan.threads());
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        if (plan.spreadsTriggers()) {
            config.put(
                    StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG,
                    DesyncRocksDBConfigSetter.class.getName());
        }
        config.putAll(plan.settings());
        return config;
    }
}
