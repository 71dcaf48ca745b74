package io.afterbay.flink;

import io.afterbay.rocksdb.CompactionThreads;
import io.afterbay.rocksdb.DesyncSettings;
import io.afterbay.rocksdb.TimerLateness;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.util.TimeUtils;

/**
 * The options of {@link DesyncOptions}, read and checked, in a form that travels with the job.
 *
 * @param spreadsTriggers see {@link DesyncOptions#TRIGGER_SPREAD}
 * @param isGated see {@link DesyncOptions#GATE}
 * @param deadline see {@link DesyncOptions#GATE_DEADLINE}
 * @param delay see {@link DesyncOptions#GATE_DELAY}
 * @param compactionThreads see {@link DesyncOptions#COMPACTION_THREADS}
 * @param flushThreads see {@link DesyncOptions#FLUSH_THREADS}
 */
record FlinkDesyncSettings(
        boolean spreadsTriggers,
        boolean isGated,
        Duration deadline,
        Duration delay,
        String compactionThreads,
        String flushThreads)
        implements Serializable {
    private static final String DEFAULT = "default";
    private static final String AUTO = "auto";
    private static final Duration DEADLINE_MIN =
            Duration.ofNanos(DesyncSettings.DEADLINE_MIN_NANOS);
    private static final Duration DEADLINE_MAX = Duration.ofMinutes(1);

    static FlinkDesyncSettings defaults() {
        return read(new Configuration());
    }

    /**
     * @throws IllegalConfigurationException naming the key, its value and what is allowed
     */
    static FlinkDesyncSettings read(ReadableConfig config) {
        OptionValues.checkKeys(config, DesyncOptions.PREFIX, DesyncOptions.all(), List.of());
        return new FlinkDesyncSettings(
                OptionValues.require(config, DesyncOptions.TRIGGER_SPREAD, "true or false"),
                OptionValues.require(config, DesyncOptions.GATE, "true or false"),
                deadline(config),
                delay(config),
                threads(config, DesyncOptions.COMPACTION_THREADS),
                threads(config, DesyncOptions.FLUSH_THREADS));
    }

    private static Duration deadline(ReadableConfig config) {
        String allowed = "a duration from 100 ms to 1 min";
        Duration value = OptionValues.require(config, DesyncOptions.GATE_DEADLINE, allowed);
        if (value.compareTo(DEADLINE_MIN) < 0 || value.compareTo(DEADLINE_MAX) > 0) {
            throw OptionValues.invalid(
                    DesyncOptions.GATE_DEADLINE, TimeUtils.formatWithHighestUnit(value), allowed);
        }
        return value;
    }

    private static Duration delay(ReadableConfig config) {
        Duration deadline = deadline(config);
        String allowed =
                "a duration from 0 to less than %s, which is %s"
                        .formatted(
                                DesyncOptions.GATE_DEADLINE.key(),
                                TimeUtils.formatWithHighestUnit(deadline));
        Duration value = OptionValues.require(config, DesyncOptions.GATE_DELAY, allowed);
        if (value.isNegative() || value.compareTo(deadline) >= 0) {
            throw OptionValues.invalid(
                    DesyncOptions.GATE_DELAY, TimeUtils.formatWithHighestUnit(value), allowed);
        }
        return value;
    }

    private static String threads(ReadableConfig config, ConfigOption<String> option) {
        String allowed = "default, auto, or 1 to " + CompactionThreads.MAX;
        String value = OptionValues.require(config, option, allowed);
        try {
            threads(value);
        } catch (IllegalArgumentException e) {
            throw OptionValues.invalid(option, value, allowed);
        }
        return value;
    }

    private static CompactionThreads threads(String value) {
        return switch (value) {
            case DEFAULT -> CompactionThreads.DEFAULT;
            case AUTO -> CompactionThreads.auto(new TimerLateness());
            default -> CompactionThreads.of(Integer.parseInt(value));
        };
    }

    /** The processors are those of the TaskManager. */
    private static int flushes(String value) {
        return switch (value) {
            case DEFAULT -> 0;
            case AUTO -> Runtime.getRuntime().availableProcessors();
            default -> Integer.parseInt(value);
        };
    }

    DesyncSettings settings() {
        return new DesyncSettings(
                spreadsTriggers,
                isGated,
                deadline.toNanos(),
                threads(compactionThreads),
                delay.toNanos(),
                flushes(flushThreads));
    }
}
