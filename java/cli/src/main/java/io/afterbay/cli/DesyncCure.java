package io.afterbay.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;

/**
 * What is set on RocksDB so that its instances do not flush and compact together: nothing, what
 * RocksDB itself has to offer, or ours (ShadowSync, section 4).
 */
enum DesyncCure implements Labelled {
    DEFAULT("default", Map.of()),
    ONE_THREAD("one-thread", ours("compaction-threads", "1")),
    LOW_PRIORITY("low-priority", baseline(RocksDBBaseline.LOW_PRIORITY, true)),
    RATE_LIMIT("rate-limit", baseline(RocksDBBaseline.RATE_LIMIT, "32mb")),
    SPREAD("spread", ours("trigger-spread", "true")),
    GATE("gate", ours("gate", "true")),
    KNEE("knee", ours("compaction-threads", "auto")),
    FLUSHES("flushes", ours("flush-threads", "auto")),
    ALL(
            "all",
            ours(
                    "trigger-spread",
                    "true",
                    "gate",
                    "true",
                    "compaction-threads",
                    "auto",
                    "flush-threads",
                    "auto")),

    /** Another state backend, which flushes nothing at a checkpoint. */
    AFTERBAY("afterbay", Map.of());

    private static final String FACTORY = "state.backend.rocksdb.options-factory";

    private final String label;
    private final Map<String, String> settings;

    DesyncCure(String label, Map<String, String> settings) {
        this.label = label;
        this.settings = settings;
    }

    /** Ours, with nothing but that switched on. */
    static Map<String, String> ours(String... keysAndValues) {
        String prefix = "state.backend.rocksdb.desync.";
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put(FACTORY, "io.afterbay.flink.DesyncRocksDBOptionsFactory");
        settings.put(prefix + "trigger-spread", "false");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            settings.put(prefix + keysAndValues[i], keysAndValues[i + 1]);
        }
        return settings;
    }

    /** RocksDB's own. */
    static Map<String, String> baseline(ConfigOption<?> option, Object value) {
        return Map.of(FACTORY, RocksDBBaseline.class.getName(), option.key(), value.toString());
    }

    @Override
    public String label() {
        return label;
    }

    /** Options of Flink. */
    Map<String, String> settings() {
        return settings;
    }

    /** Where the state is. */
    Backend backend() {
        return this == AFTERBAY ? Backend.AFTERBAY : Backend.ROCKSDB_HEAP_TIMERS;
    }

    /** Whether it changes when instances compact. */
    boolean spreads() {
        return this == SPREAD || this == ALL;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static DesyncCure named(String label) {
        return Labelled.named(DesyncCure.class, label);
    }

    static final class Converter extends Labelled.Converter<DesyncCure> {
        Converter() {
            super(DesyncCure.class);
        }
    }
}
