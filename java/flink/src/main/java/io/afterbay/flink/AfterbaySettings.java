package io.afterbay.flink;

import static io.afterbay.flink.OptionValues.checkKeys;
import static io.afterbay.flink.OptionValues.get;
import static io.afterbay.flink.OptionValues.invalid;
import static io.afterbay.flink.OptionValues.number;
import static io.afterbay.flink.OptionValues.require;

import io.afterbay.flink.state.ObjectTierSettings;
import io.afterbay.maintenance.MaintenanceSettings;
import io.afterbay.store.StoreTuning;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.util.TimeUtils;
import org.jspecify.annotations.Nullable;

/**
 * The options, read and checked.
 *
 * @param fixedBytesPerSlot memory of a slot's stores; null for managed memory
 * @param localDirectories where local files go; empty for the TaskManager's temporary directories
 * @param maxSpaceAmplification see {@link AfterbayOptions#MAX_SPACE_AMPLIFICATION}
 * @param compression see {@link AfterbayOptions#COMPRESSION}
 * @param readThreads see {@link AfterbayOptions#READ_THREADS}
 * @param readAheadTimers see {@link InternalOptions#READ_AHEAD_TIMERS}
 * @param tuning see {@link InternalOptions}
 * @param maintenance see {@link AfterbayOptions#BACKGROUND_THREADS} and {@link
 *     AfterbayOptions#COMPACTION_DELAY}
 * @param isIncremental whether checkpoints are
 * @param redoLogBytes see {@link AfterbayOptions#REDO_LOG_SIZE}
 * @param transferThreads see {@link AfterbayOptions#TRANSFER_THREADS}
 * @param lazyRestore see {@link AfterbayOptions#LAZY_RESTORE}
 * @param objectTier see {@link AfterbayOptions#OBJECT_TIER}
 */
record AfterbaySettings(
        @Nullable Long fixedBytesPerSlot,
        List<String> localDirectories,
        double maxSpaceAmplification,
        boolean compression,
        int readThreads,
        int readAheadTimers,
        StoreTuning tuning,
        MaintenanceSettings maintenance,
        boolean isIncremental,
        long redoLogBytes,
        int transferThreads,
        boolean lazyRestore,
        ObjectTierSettings objectTier)
        implements Serializable {
    private static final int THREADS_MAX = 64;
    private static final int READ_AHEAD_TIMERS_MAX = 1 << 16;
    private static final Duration COMPACTION_DELAY_MAX = Duration.ofMinutes(10);
    private static final double SPACE_AMPLIFICATION_MAX = 100;
    private static final long REDO_LOG_MIN = 1 << 20;
    private static final long REDO_LOG_MAX = 16L << 30;

    static AfterbaySettings defaults() {
        return read(new Configuration());
    }

    /**
     * @throws IllegalConfigurationException naming the key, its value and what is allowed
     */
    static AfterbaySettings read(ReadableConfig config) {
        checkKeys(config, AfterbayOptions.PREFIX, AfterbayOptions.all(), InternalOptions.all());
        return new AfterbaySettings(
                fixedBytes(config),
                directories(config),
                amplification(config),
                require(config, AfterbayOptions.COMPRESSION, "true or false"),
                number(config, AfterbayOptions.READ_THREADS, 0, THREADS_MAX),
                number(config, InternalOptions.READ_AHEAD_TIMERS, 1, READ_AHEAD_TIMERS_MAX),
                tuning(config),
                maintenance(config),
                incremental(config),
                redoLogBytes(config),
                threads(config, AfterbayOptions.TRANSFER_THREADS),
                require(config, AfterbayOptions.LAZY_RESTORE, "true or false"),
                objectTier(config));
    }

    /**
     * Only incremental checkpoints wait for files that are on their way. A full one might let the
     * restored checkpoint be deleted before.
     */
    boolean isRestoredLazily() {
        return lazyRestore && isIncremental;
    }

    private static ObjectTierSettings objectTier(ReadableConfig config) {
        return new ObjectTierSettings(
                require(config, AfterbayOptions.OBJECT_TIER, "true or false"),
                number(
                        config,
                        AfterbayOptions.OBJECT_TIER_ENTRIES,
                        ObjectTierSettings.ENTRIES_MIN,
                        ObjectTierSettings.ENTRIES_MAX),
                number(
                        config,
                        AfterbayOptions.OBJECT_TIER_DIRTY_ENTRIES,
                        1,
                        ObjectTierSettings.ENTRIES_MAX));
    }

    /** The changelog logs all changes itself, and asks for snapshots by numbers of its own. */
    private static boolean incremental(ReadableConfig config) {
        return config.get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS)
                && !config.get(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG);
    }

    private static long redoLogBytes(ReadableConfig config) {
        String allowed = "a size from 1 mb to 16 gb";
        MemorySize size = require(config, AfterbayOptions.REDO_LOG_SIZE, allowed);
        if (size.getBytes() < REDO_LOG_MIN || size.getBytes() > REDO_LOG_MAX) {
            throw invalid(AfterbayOptions.REDO_LOG_SIZE, size, allowed);
        }
        return size.getBytes();
    }

    private static @Nullable Long fixedBytes(ReadableConfig config) {
        boolean managed = require(config, AfterbayOptions.MANAGED_MEMORY, "true or false");
        MemorySize fixed =
                get(config, AfterbayOptions.FIXED_MEMORY_PER_SLOT, "a size such as 256 mb");
        if (managed && fixed != null) {
            throw invalid(
                    AfterbayOptions.FIXED_MEMORY_PER_SLOT,
                    fixed,
                    "nothing while %s is true; set that to false, or remove the size"
                            .formatted(AfterbayOptions.MANAGED_MEMORY.key()));
        }
        if (managed) {
            return null;
        }
        if (fixed == null || fixed.getBytes() <= 0) {
            throw invalid(
                    AfterbayOptions.FIXED_MEMORY_PER_SLOT,
                    fixed,
                    "a positive size such as 256 mb while %s is false"
                            .formatted(AfterbayOptions.MANAGED_MEMORY.key()));
        }
        return fixed.getBytes();
    }

    private static List<String> directories(ReadableConfig config) {
        List<String> directories =
                get(config, AfterbayOptions.LOCAL_DIRECTORIES, "a list of paths");
        return directories == null ? List.of() : List.copyOf(directories);
    }

    private static double amplification(ReadableConfig config) {
        String allowed = "a number above 1, at most 100";
        double value = require(config, AfterbayOptions.MAX_SPACE_AMPLIFICATION, allowed);
        if (!(value > 1 && value <= SPACE_AMPLIFICATION_MAX)) {
            throw invalid(AfterbayOptions.MAX_SPACE_AMPLIFICATION, value, allowed);
        }
        return value;
    }

    private static StoreTuning tuning(ReadableConfig config) {
        String allowed = "a size from 4 kb to 16 mb";
        MemorySize batch = require(config, InternalOptions.REGROUP_BATCH, allowed);
        if (!StoreTuning.isRegroupBatch(batch.getBytes())) {
            throw invalid(InternalOptions.REGROUP_BATCH, batch, allowed);
        }
        String parts = "2 to 1024";
        int part = require(config, InternalOptions.HOT_TIER_PART, parts);
        if (!StoreTuning.isHotTierPart(part)) {
            throw invalid(InternalOptions.HOT_TIER_PART, part, parts);
        }
        return new StoreTuning((int) batch.getBytes(), part);
    }

    private static MaintenanceSettings maintenance(ReadableConfig config) {
        int threads = threads(config, AfterbayOptions.BACKGROUND_THREADS);
        String allowed = "a duration from 0 s to 10 min";
        Duration delay = require(config, AfterbayOptions.COMPACTION_DELAY, allowed);
        if (delay.isNegative() || delay.compareTo(COMPACTION_DELAY_MAX) > 0) {
            throw invalid(
                    AfterbayOptions.COMPACTION_DELAY,
                    TimeUtils.formatWithHighestUnit(delay),
                    allowed);
        }
        return delay.isZero()
                ? MaintenanceSettings.undelayed(threads)
                : MaintenanceSettings.delayed(threads, delay.toNanos());
    }

    private static int threads(ReadableConfig config, ConfigOption<Integer> option) {
        return number(config, option, 1, THREADS_MAX);
    }
}
