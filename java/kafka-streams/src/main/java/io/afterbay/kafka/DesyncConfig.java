package io.afterbay.kafka;

import io.afterbay.rocksdb.CompactionThreads;
import io.afterbay.rocksdb.DesyncSettings;
import io.afterbay.rocksdb.TimerLateness;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.LambdaValidator;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@link DesyncRocksDBConfigSetter}, beside those of Kafka Streams in the same
 * properties. Unknown keys under {@link #PREFIX} and values out of range are refused with the key
 * and what is allowed. Documented in {@code docs/configuration.md}, which is generated from here.
 */
public final class DesyncConfig extends AbstractConfig {
    /** What all keys begin with. */
    public static final String PREFIX = "afterbay.desync.";

    public static final String TRIGGER_SPREAD = PREFIX + "trigger.spread";
    public static final String GATE = PREFIX + "gate";
    public static final String GATE_DEADLINE_MS = PREFIX + "gate.deadline.ms";
    public static final String GATE_DELAY_MS = PREFIX + "gate.delay.ms";
    public static final String COMPACTION_THREADS = PREFIX + "compaction.threads";
    public static final String FLUSH_THREADS = PREFIX + "flush.threads";
    public static final String CONFIG_SETTER = PREFIX + "config.setter";

    private static final String DEFAULT = "default";
    private static final String AUTO = "auto";
    private static final String THREADS_ALLOWED = "default, auto, or 1 to " + CompactionThreads.MAX;
    private static final String SETTER_ALLOWED =
            "a class on the class path that implements RocksDBConfigSetter, has a public"
                    + " constructor without arguments, and is not this one";
    private static final long DEADLINE_MS_MIN =
            TimeUnit.NANOSECONDS.toMillis(DesyncSettings.DEADLINE_MIN_NANOS);
    private static final long DEADLINE_MS_MAX = 60_000;
    private static final String DEADLINE_ALLOWED = DEADLINE_MS_MIN + " to " + DEADLINE_MS_MAX;

    private static final ConfigDef DEFINITIONS =
            new ConfigDef()
                    .define(
                            TRIGGER_SPREAD,
                            Type.BOOLEAN,
                            true,
                            Importance.HIGH,
                            "Whether each store compacts at its own number of files in L0: 0 to 3"
                                    + " more than what is set otherwise (RocksDB's 4, or what your"
                                    + " own config setter sets), by the store's name and its number"
                                    + " among the open ones of that name, at most half of the number"
                                    + " that slows writes down. So they do not all compact after the"
                                    + " same commit. Turn it off to have exactly the number that is"
                                    + " set.")
                    .define(
                            GATE,
                            Type.BOOLEAN,
                            false,
                            Importance.MEDIUM,
                            "Whether the compactions of all RocksDB instances in the process wait"
                                    + " while stores flush for a commit, and about as long after it."
                                    + " Never while a store is near the number of files in L0 that"
                                    + " slows writes down, and in all at most half of the time. The"
                                    + " first store to open decides. Does nothing where commits do"
                                    + " not flush.")
                    .define(
                            GATE_DEADLINE_MS,
                            Type.LONG,
                            3_000L,
                            LambdaValidator.with(
                                    DesyncConfig::checkDeadline, () -> DEADLINE_ALLOWED),
                            Importance.LOW,
                            "The longest time for which the gate holds compactions back, in"
                                    + " milliseconds. Below half of commit.interval.ms, or else the"
                                    + " compactions of one commit land on the next. The first store"
                                    + " to open decides.")
                    .define(
                            GATE_DELAY_MS,
                            Type.LONG,
                            0L,
                            Importance.LOW,
                            "How long the gate holds compactions back after the last flush of a"
                                    + " commit, in milliseconds, below gate.deadline.ms; 0: as long"
                                    + " as the records that queued up take, by the processors' load"
                                    + " in calm times. The first store to open decides.")
                    .define(
                            COMPACTION_THREADS,
                            Type.STRING,
                            DEFAULT,
                            LambdaValidator.with(DesyncConfig::checkThreads, () -> THREADS_ALLOWED),
                            Importance.MEDIUM,
                            "Compactions at once in the process: default (as many as processors,"
                                    + " which Kafka Streams sets whenever it opens a store), a number"
                                    + " from 1 to 256, or auto: as many as processors, and fewer"
                                    + " once it shows that threads wake late beyond some number of"
                                    + " compactions. Too few make a backlog, and that stalls writes:"
                                    + " watch compactionsQueued. The first store to open decides.")
                    .define(
                            FLUSH_THREADS,
                            Type.STRING,
                            DEFAULT,
                            LambdaValidator.with(DesyncConfig::checkThreads, () -> THREADS_ALLOWED),
                            Importance.MEDIUM,
                            "Flushes at once in the process: default (one), a number from 1 to 256,"
                                    + " or auto: as many as processors. Where a commit flushes, its"
                                    + " thread waits for each of its stores. The first store to open"
                                    + " decides.")
                    .define(
                            CONFIG_SETTER,
                            Type.CLASS,
                            null,
                            LambdaValidator.with(
                                    DesyncConfig::checkSetter,
                                    () -> "a class that implements RocksDBConfigSetter"),
                            Importance.MEDIUM,
                            "Your own config setter (a class that implements RocksDBConfigSetter),"
                                    + " which is asked first; rocksdb.config.setter names this one.");

    /**
     * @param configs of the whole application
     * @throws ConfigException naming the key, its value and what is allowed
     */
    public DesyncConfig(Map<String, ?> configs) {
        super(DEFINITIONS, checked(configs), false);
        long delayMs = getLong(GATE_DELAY_MS);
        long deadlineMs = getLong(GATE_DEADLINE_MS);
        if (delayMs < 0 || delayMs >= deadlineMs) {
            throw notAllowed(
                    GATE_DELAY_MS,
                    delayMs,
                    "0 to less than %s, which is %d".formatted(GATE_DEADLINE_MS, deadlineMs));
        }
    }

    /** A copy of the definitions. */
    public static ConfigDef definitions() {
        return new ConfigDef(DEFINITIONS);
    }

    private static Map<String, ?> checked(Map<String, ?> configs) {
        for (String key : configs.keySet()) {
            if (key.startsWith(PREFIX) && !DEFINITIONS.names().contains(key)) {
                throw new ConfigException(
                        "unknown configuration %s (value %s); under %s there are %s"
                                .formatted(
                                        key,
                                        configs.get(key),
                                        PREFIX,
                                        DEFINITIONS.names().stream().sorted().toList()));
            }
        }
        return configs;
    }

    private static void checkDeadline(String key, @Nullable Object value) {
        if (!(value instanceof Long millis)
                || millis < DEADLINE_MS_MIN
                || millis > DEADLINE_MS_MAX) {
            throw notAllowed(key, value, DEADLINE_ALLOWED);
        }
    }

    private static void checkThreads(String key, @Nullable Object value) {
        try {
            threads(String.valueOf(value));
        } catch (IllegalArgumentException e) {
            throw notAllowed(key, value, THREADS_ALLOWED);
        }
    }

    private static ConfigException notAllowed(String key, @Nullable Object value, String allowed) {
        return new ConfigException(
                "%s: value %s is not allowed; allowed: %s".formatted(key, value, allowed));
    }

    private static CompactionThreads threads(String value) {
        return switch (value) {
            case DEFAULT -> CompactionThreads.DEFAULT;
            case AUTO -> CompactionThreads.auto(new TimerLateness());
            default -> CompactionThreads.of(Integer.parseInt(value));
        };
    }

    private static void checkSetter(String key, @Nullable Object value) {
        if (value != null) {
            Class<?> type = (Class<?>) value;
            if (!RocksDBConfigSetter.class.isAssignableFrom(type)
                    || DesyncRocksDBConfigSetter.class.isAssignableFrom(type)) {
                throw notAllowed(key, type.getName(), SETTER_ALLOWED);
            }
        }
    }

    /** A new one of the user's own setters, or null. */
    @Nullable RocksDBConfigSetter ownSetter() {
        Class<?> type = getClass(CONFIG_SETTER);
        if (type == null) {
            return null;
        }
        try {
            return (RocksDBConfigSetter) type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            ConfigException failure = notAllowed(CONFIG_SETTER, type.getName(), SETTER_ALLOWED);
            failure.initCause(e);
            throw failure;
        }
    }

    private static int flushes(String value) {
        return switch (value) {
            case DEFAULT -> 0;
            case AUTO -> Runtime.getRuntime().availableProcessors();
            default -> Integer.parseInt(value);
        };
    }

    DesyncSettings settings() {
        return new DesyncSettings(
                getBoolean(TRIGGER_SPREAD),
                getBoolean(GATE),
                TimeUnit.MILLISECONDS.toNanos(getLong(GATE_DEADLINE_MS)),
                threads(getString(COMPACTION_THREADS)),
                TimeUnit.MILLISECONDS.toNanos(getLong(GATE_DELAY_MS)),
                flushes(getString(FLUSH_THREADS)));
    }
}
