package io.afterbay.experiments.desync;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Options of Afterbay's that keep instances of RocksDB apart, by their names below {@code
 * state.backend.rocksdb.desync}. What is not named is off, the spread of triggers too.
 */
record DesyncSwitches(Map<String, String> options) {
    private static final String FLINK = "state.backend.rocksdb.";
    private static final String KAFKA = "afterbay.desync.";
    private static final String MILLIS = " ms";

    /** With these on. */
    static DesyncSwitches of(String... keysAndValues) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("trigger-spread", "false");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            options.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return new DesyncSwitches(options);
    }

    /** A value of these options. */
    static String millis(int millis) {
        return millis + MILLIS;
    }

    Map<String, String> onFlink() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put(FLINK + "options-factory", "io.afterbay.flink.DesyncRocksDBOptionsFactory");
        options.forEach((key, value) -> settings.put(FLINK + "desync." + key, value));
        return settings;
    }

    /** Where words of a key have dots between them, and times their unit in the key. */
    Map<String, String> onKafka() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("rocksdb.config.setter", "io.afterbay.kafka.DesyncRocksDBConfigSetter");
        options.forEach(
                (key, value) -> {
                    boolean isTime = value.endsWith(MILLIS);
                    settings.put(
                            KAFKA + key.replace('-', '.') + (isTime ? ".ms" : ""),
                            isTime ? value.substring(0, value.length() - MILLIS.length()) : value);
                });
        return settings;
    }
}
