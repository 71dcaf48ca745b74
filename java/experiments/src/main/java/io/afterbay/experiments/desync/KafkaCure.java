package io.afterbay.experiments.desync;

import java.util.LinkedHashMap;
import java.util.Map;

/** What a {@link DesyncPlan} sets, as settings of Kafka Streams. */
final class KafkaCure {
    /** Of the module kafka-workloads; makes RocksDB log what it does, too. */
    private static final String BASELINE = "io.afterbay.kafka.workloads.BenchConfigSetter";

    private KafkaCure() {}

    static Map<String, String> settings(DesyncPlan plan) {
        return plan.switches()
                .map(KafkaCure::ours)
                .orElseGet(() -> baseline(plan.cure(), "rocksdb.config.setter"));
    }

    private static Map<String, String> ours(DesyncSwitches switches) {
        Map<String, String> settings = new LinkedHashMap<>(switches.onKafka());
        settings.put("afterbay.desync.config.setter", BASELINE);
        return settings;
    }

    /** RocksDB's own. */
    private static Map<String, String> baseline(DesyncCure cure, String setter) {
        return switch (cure) {
            case LOW_PRIORITY -> Map.of(setter, BASELINE, "afterbay.bench.low.priority", "true");
            case RATE_LIMIT -> Map.of(setter, BASELINE, "afterbay.bench.rate.limit", "33554432");
            case AFTERBAY -> throw new IllegalArgumentException("a state backend of Flink");
            default -> Map.of(setter, BASELINE);
        };
    }
}
