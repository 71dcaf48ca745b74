package io.afterbay.flink;

import io.afterbay.store.StoreTuning;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * Options of the backend for experiments ({@code ./afterbay bench sweep}): not documented, and any
 * release may drop or change them. See {@link StoreTuning}.
 */
final class InternalOptions {
    private static final String PREFIX = AfterbayOptions.PREFIX + "internal.";

    static final ConfigOption<MemorySize> REGROUP_BATCH =
            ConfigOptions.key(PREFIX + "regroup-batch")
                    .memoryType()
                    .defaultValue(new MemorySize(StoreTuning.DEFAULT.regroupBatchBytes()))
                    .withDescription("See StoreTuning.regroupBatchBytes.");

    static final ConfigOption<Integer> HOT_TIER_PART =
            ConfigOptions.key(PREFIX + "hot-tier-part")
                    .intType()
                    .defaultValue(StoreTuning.DEFAULT.hotTierPart())
                    .withDescription("See StoreTuning.hotTierPart.");

    static final ConfigOption<Integer> READ_AHEAD_TIMERS =
            ConfigOptions.key(PREFIX + "read-ahead-timers")
                    .intType()
                    .defaultValue(64)
                    .withDescription("Of how many timers the lists are read together, at most.");

    static List<ConfigOption<?>> all() {
        return List.of(REGROUP_BATCH, HOT_TIER_PART, READ_AHEAD_TIMERS);
    }

    private InternalOptions() {}
}
