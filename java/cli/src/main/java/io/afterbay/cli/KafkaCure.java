package io.afterbay.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/** A {@link DesyncCure} as settings of Kafka Streams. */
final class KafkaCure {
    private static final String SETTER = "rocksdb.config.setter";
    private static final String OURS = "io.afterbay.kafka.DesyncRocksDBConfigSetter";

    /** Of the module kafka-workloads; makes RocksDB log what it does, too. */
    private static final String BASELINE = "io.afterbay.kafka.workloads.BenchConfigSetter";

    private KafkaCure() {}

    static Map<String, String> settings(DesyncCure cure) {
        return switch (cure) {
            case DEFAULT -> Map.of(SETTER, BASELINE);
            case LOW_PRIORITY -> Map.of(SETTER, BASELINE, "afterbay.bench.low.priority", "true");
            case RATE_LIMIT -> Map.of(SETTER, BASELINE, "afterbay.bench.rate.limit", "33554432");
            case ONE_THREAD -> ours("compaction.threads", "1");
            case SPREAD -> ours("trigger.spread", "true");
            case GATE -> ours("gate", "true");
            case KNEE -> ours("compaction.threads", "auto");
            case AFTERBAY -> throw new IllegalArgumentException("a state backend of Flink");
            case FLUSHES -> ours("flush.threads", "auto");
            case ALL ->
                    ours(
                            "trigger.spread",
                            "true",
                            "gate",
                            "true",
                            "compaction.threads",
                            "auto",
                            "flush.threads",
                            "auto");
        };
    }

    /** With nothing but that switched on. */
    private static Map<String, String> ours(String... keysAndValues) {
        String prefix = "afterbay.desync.";
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put(SETTER, OURS);
        settings.put(prefix + "config.setter", BASELINE);
        settings.put(prefix + "trigger.spread", "false");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            settings.put(prefix + keysAndValues[i], keysAndValues[i + 1]);
        }
        return settings;
    }
}
