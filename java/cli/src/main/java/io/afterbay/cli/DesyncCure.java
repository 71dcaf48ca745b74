package io.afterbay.cli;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * What is set on RocksDB so that its instances do not flush and compact together: nothing, what
 * RocksDB itself has to offer, or ours (ShadowSync, section 4).
 */
enum DesyncCure {
    DEFAULT("default", Map.of()),
    ONE_THREAD("one-thread", ours("compaction-threads", "1")),
    LOW_PRIORITY("low-priority", baseline(RocksDBBaseline.LOW_PRIORITY, true)),
    RATE_LIMIT("rate-limit", baseline(RocksDBBaseline.RATE_LIMIT, "32mb")),
    SPREAD("spread", ours("trigger-spread", "true")),
    GATE("gate", ours("gate", "true")),
    KNEE("knee", ours("compaction-threads", "auto")),
    ALL("all", ours("trigger-spread", "true", "gate", "true", "compaction-threads", "auto"));

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

    /** How users of the command call it. */
    String label() {
        return label;
    }

    /** Options of Flink. */
    Map<String, String> settings() {
        return settings;
    }

    /** Whether it changes when instances compact. */
    boolean spreads() {
        return this == SPREAD || this == ALL;
    }

    /**
     * The cure of that label.
     *
     * @throws IllegalArgumentException saying which there are
     */
    static DesyncCure named(String label) {
        return Arrays.stream(values())
                .filter(one -> one.label.equals(label))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "'%s' is none; use of %s".formatted(label, all())));
    }

    private static String all() {
        return Arrays.stream(values()).map(DesyncCure::label).collect(Collectors.joining(", "));
    }

    /** For picocli. */
    static final class Converter implements ITypeConverter<DesyncCure> {
        @Override
        public DesyncCure convert(String text) {
            try {
                return named(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
