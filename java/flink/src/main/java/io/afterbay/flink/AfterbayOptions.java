package io.afterbay.flink;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * The options of the backend, for Flink's configuration file. Unknown keys under {@link #PREFIX}
 * and values out of range fail the job at its start. Documented in {@code docs/configuration.md},
 * which is generated from here.
 */
public final class AfterbayOptions {
    /** What all keys begin with. */
    public static final String PREFIX = "state.backend.afterbay.";

    public static final ConfigOption<Boolean> MANAGED_MEMORY =
            ConfigOptions.key(PREFIX + "memory.managed")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether the stores of a slot share the slot's managed memory"
                                    + " (taskmanager.memory.managed.*). If false,"
                                    + " memory.fixed-per-slot must be set.");

    public static final ConfigOption<MemorySize> FIXED_MEMORY_PER_SLOT =
            ConfigOptions.key(PREFIX + "memory.fixed-per-slot")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Off-heap memory that the stores of a slot share instead of managed memory;"
                                    + " requires memory.managed: false. Leave room for it in"
                                    + " taskmanager.memory.task.off-heap.size.");

    public static final ConfigOption<List<String>> LOCAL_DIRECTORIES =
            ConfigOptions.key(PREFIX + "local-directories")
                    .stringType()
                    .asList()
                    .noDefaultValue()
                    .withDescription(
                            "Directories for the stores' local files, taken in turn: one per disk is"
                                    + " best. By default the temporary directories of the TaskManager"
                                    + " (io.tmp.dirs), or with local recovery of incremental"
                                    + " checkpoints its working directory.");

    public static final ConfigOption<Double> MAX_SPACE_AMPLIFICATION =
            ConfigOptions.key(PREFIX + "max-space-amplification")
                    .doubleType()
                    .defaultValue(1.5)
                    .withDescription(
                            "Bytes in local files per byte that is still needed, above which files are"
                                    + " compacted; more than 1, at most 100.");

    public static final ConfigOption<Boolean> COMPRESSION =
            ConfigOptions.key(PREFIX + "file.compression")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether state is compressed (LZ4) on its way to local files, and so in"
                                    + " checkpoints: less is written, more stays in the page cache."
                                    + " Turn it off for state that is encrypted or compressed"
                                    + " already. May change from one run to the next.");

    public static final ConfigOption<Integer> READ_THREADS =
            ConfigOptions.key(PREFIX + "file.read-threads")
                    .intType()
                    .defaultValue(8)
                    .withDescription(
                            "Threads of a TaskManager process, for all jobs with the same number,"
                                    + " that read lists from local files together before their"
                                    + " timers fire; 0 to 64, and 0 for none:"
                                    + " then a task reads them page by page. They wait for the disk,"
                                    + " and take little of the processors. More for a disk that"
                                    + " answers late and takes many reads at a time, as those over a"
                                    + " network; metric pagesReadAhead tells whether there is"
                                    + " anything to read.");

    public static final ConfigOption<Integer> BACKGROUND_THREADS =
            ConfigOptions.key(PREFIX + "file.background-threads")
                    .intType()
                    .defaultValue(2)
                    .withDescription(
                            "Threads of a TaskManager process that write and compact local files for"
                                    + " all stores in it; 1 to 64. Writes go first, and with a"
                                    + " file.compaction-delay one of several threads is kept for"
                                    + " them. The first job to start decides.");

    public static final ConfigOption<Duration> COMPACTION_DELAY =
            ConfigOptions.key(PREFIX + "file.compaction-delay")
                    .durationType()
                    .defaultValue(Duration.ZERO)
                    .withDescription(
                            "The longest time for which a compaction of local files is put off, so"
                                    + " that those of different stores do not land together, and not"
                                    + " on a checkpoint: each store begins at its own time, and none"
                                    + " while a checkpoint is written or events that queued up behind"
                                    + " it are processed. 0 (no delay) is best for throughput: what is"
                                    + " put off takes disk space and page cache. Try 2 s, below the"
                                    + " checkpoint interval, where compactions show in the latency;"
                                    + " at most 10 min. A store with twice the permitted garbage"
                                    + " does not wait. The first job to start decides.");

    public static final ConfigOption<MemorySize> REDO_LOG_SIZE =
            ConfigOptions.key(PREFIX + "checkpoint.redo-log-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(256))
                    .withDescription(
                            "Incremental checkpoints (execution.checkpointing.incremental) only:"
                                    + " changes of an operator instance since its base that are kept"
                                    + " as a log, which a restore replays; beyond that, or half of"
                                    + " the state, a new base is written behind the checkpoints, and"
                                    + " by one of them at three times that. Smaller: faster restores"
                                    + " and more uploads. 1 mb to 16 gb.");

    public static final ConfigOption<Integer> TRANSFER_THREADS =
            ConfigOptions.key(PREFIX + "checkpoint.transfer-threads")
                    .intType()
                    .defaultValue(4)
                    .withDescription(
                            "Incremental checkpoints (execution.checkpointing.incremental) only: files"
                                    + " of an operator instance that are uploaded, or downloaded for"
                                    + " a restore, at a time; 1 to 64. More for an object store that"
                                    + " answers late, fewer if a restore of many instances takes the"
                                    + " network from others.");

    public static final ConfigOption<Boolean> LAZY_RESTORE =
            ConfigOptions.key(PREFIX + "checkpoint.lazy-restore")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Incremental checkpoints (execution.checkpointing.incremental) only:"
                                    + " whether a restore from checkpoint storage begins to process"
                                    + " events when the index of its base is there, while the files"
                                    + " with the state follow in the background, those first that"
                                    + " are asked for. The first checkpoint with NO_CLAIM takes"
                                    + " until all are there. If false, a restore waits for them.");

    public static final ConfigOption<Boolean> OBJECT_TIER =
            ConfigOptions.key(PREFIX + "object-tier.enabled")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether values that were used lately are kept as objects on the heap, so"
                                    + " that using them again serialises nothing: of ValueState,"
                                    + " ReducingState and AggregatingState whose values are of"
                                    + " immutable types, under keys that are numbers, strings,"
                                    + " Booleans or times. Turn it on for keyed counts and sums"
                                    + " whose keys in use at a time fit into"
                                    + " object-tier.dirty-entries, and compare: where they do not,"
                                    + " it costs more than it saves. May change from one run to the"
                                    + " next.");

    public static final ConfigOption<Integer> OBJECT_TIER_ENTRIES =
            ConfigOptions.key(PREFIX + "object-tier.entries")
                    .intType()
                    .defaultValue(16384)
                    .withDescription(
                            "Values that the object tier keeps of each state of an operator instance;"
                                    + " 8 to 1048576, rounded up to a power of two. An entry takes"
                                    + " about 100 bytes of heap and what the objects of value and key"
                                    + " take; values of more than 1 KiB serialised are not kept."
                                    + " More, if the keys that are in use at a time are more (metric"
                                    + " objectMisses) and the heap has room.");

    public static final ConfigOption<Integer> OBJECT_TIER_DIRTY_ENTRIES =
            ConfigOptions.key(PREFIX + "object-tier.dirty-entries")
                    .intType()
                    .defaultValue(2048)
                    .withDescription(
                            "How many of object-tier.entries may wait to be written to the store; 1"
                                    + " to 1048576. A checkpoint writes them before it begins, while"
                                    + " the task waits. Fewer for shorter pauses, more if the"
                                    + " metric objectWriteBacks grows about as fast as records"
                                    + " come in.");

    /** All options, in the order of the documentation. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                MANAGED_MEMORY,
                FIXED_MEMORY_PER_SLOT,
                LOCAL_DIRECTORIES,
                MAX_SPACE_AMPLIFICATION,
                COMPRESSION,
                READ_THREADS,
                BACKGROUND_THREADS,
                COMPACTION_DELAY,
                REDO_LOG_SIZE,
                TRANSFER_THREADS,
                LAZY_RESTORE,
                OBJECT_TIER,
                OBJECT_TIER_ENTRIES,
                OBJECT_TIER_DIRTY_ENTRIES);
    }

    private AfterbayOptions() {}
}
