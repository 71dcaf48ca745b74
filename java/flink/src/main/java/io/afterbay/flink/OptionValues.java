package io.afterbay.flink;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.jspecify.annotations.Nullable;

/** Reads options; what is wrong fails with the key, the value and what is allowed. */
final class OptionValues {
    private OptionValues() {}

    /**
     * @throws IllegalConfigurationException if a key begins with the prefix and is none of the
     *     options
     */
    static void checkKeys(
            ReadableConfig config,
            String prefix,
            List<ConfigOption<?>> documented,
            List<ConfigOption<?>> internal) {
        Set<String> known = keys(documented);
        Set<String> hidden = keys(internal);
        config.toMap()
                .forEach(
                        (key, value) -> {
                            if (key.startsWith(prefix)
                                    && !known.contains(key)
                                    && !hidden.contains(key)) {
                                throw unknown(key, value, known);
                            }
                        });
    }

    private static IllegalConfigurationException unknown(
            String key, String value, Set<String> known) {
        return new IllegalConfigurationException(
                "unknown option %s (value '%s'); the options are %s"
                        .formatted(
                                key, value, String.join(", ", known.stream().sorted().toList())));
    }

    private static Set<String> keys(List<ConfigOption<?>> options) {
        return options.stream().map(ConfigOption::key).collect(Collectors.toSet());
    }

    static int number(ReadableConfig config, ConfigOption<Integer> option, int min, int max) {
        String allowed = min + " to " + max;
        int value = require(config, option, allowed);
        if (value < min || value > max) {
            throw invalid(option, value, allowed);
        }
        return value;
    }

    static <T> T require(ReadableConfig config, ConfigOption<T> option, String allowed) {
        T value = get(config, option, allowed);
        if (value == null) {
            throw invalid(option, null, allowed);
        }
        return value;
    }

    static <T> @Nullable T get(ReadableConfig config, ConfigOption<T> option, String allowed) {
        try {
            return config.getOptional(option).orElse(option.defaultValue());
        } catch (IllegalArgumentException e) {
            throw new IllegalConfigurationException(
                    "%s: value '%s' is not allowed; allowed: %s"
                            .formatted(option.key(), config.toMap().get(option.key()), allowed),
                    e);
        }
    }

    static IllegalConfigurationException invalid(
            ConfigOption<?> option, @Nullable Object value, String allowed) {
        return new IllegalConfigurationException(
                "%s: value '%s' is not allowed; allowed: %s"
                        .formatted(option.key(), value == null ? "(none)" : value, allowed));
    }
}
