package io.afterbay.flink;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/**
 * The options of {@link DesyncRocksDBOptionsFactory}, for jobs on Flink's own RocksDB backend.
 * Unknown keys under {@link #PREFIX} and values out of range fail the job at its start. Documented
 * in {@code docs/configuration.md}, which is generated from here. Needs no class of RocksDB.
 */
public final class DesyncOptions {
    /** What all keys begin with. */
    public static final String PREFIX = "state.backend.rocksdb.desync.";

    public static final ConfigOption<Boolean> TRIGGER_SPREAD =
            ConfigOptions.key(PREFIX + "trigger-spread")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether each operator instance compacts at its own number of files in"
                                    + " L0: 0 to 3 more than what is set otherwise (RocksDB's 4, or"
                                    + " what your own options factory sets), by operator and"
                                    + " subtask, at most half of the number that slows writes down."
                                    + " So they do not all compact at the same checkpoint. Turn it"
                                    + " off to have exactly the number that is set.");

    public static final ConfigOption<Boolean> GATE =
            ConfigOptions.key(PREFIX + "gate")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether the compactions of all RocksDB instances in a TaskManager"
                                    + " process wait while instances flush for a checkpoint, and"
                                    + " about as long after it. Never while an instance is near the"
                                    + " number of files in L0 that slows writes down, and in all at"
                                    + " most half of the time. The first job to start decides.");

    public static final ConfigOption<Duration> GATE_DEADLINE =
            ConfigOptions.key(PREFIX + "gate.deadline")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(3))
                    .withDescription(
                            "The longest time for which the gate holds compactions back; 100 ms to 1"
                                    + " min. Below half of the checkpoint interval, or else the"
                                    + " compactions of one checkpoint land on the next. The first"
                                    + " job to start decides.");

    public static final ConfigOption<Duration> GATE_DELAY =
            ConfigOptions.key(PREFIX + "gate.delay")
                    .durationType()
                    .defaultValue(Duration.ZERO)
                    .withDescription(
                            "How long the gate holds compactions back after the last flush of a"
                                    + " checkpoint, below gate.deadline; 0, the default: as long as"
                                    + " the events that queued up take, by the processors' load in"
                                    + " calm times. The first job to start decides.");

    public static final ConfigOption<String> COMPACTION_THREADS =
            ConfigOptions.key(PREFIX + "compaction-threads")
                    .stringType()
                    .defaultValue("default")
                    .withDescription(
                            "Compactions at once in a TaskManager process: default (as"
                                    + " state.backend.rocksdb.thread.num says), a number from 1 to"
                                    + " 256, or auto: as many as processors, and fewer once it shows"
                                    + " that threads wake late beyond some number of compactions."
                                    + " Too few make a backlog, and that stalls writes: watch"
                                    + " compactionsQueued. The first job to start decides.");

    public static final ConfigOption<String> FLUSH_THREADS =
            ConfigOptions.key(PREFIX + "flush-threads")
                    .stringType()
                    .defaultValue("default")
                    .withDescription(
                            "Flushes at once in a TaskManager process: default (a quarter of"
                                    + " state.backend.rocksdb.thread.num, at least one), a number"
                                    + " from 1 to 256, or auto: as many as processors. At a checkpoint, each"
                                    + " subtask waits until its instance is flushed, and with one"
                                    + " thread for all those before it. The first job to start"
                                    + " decides.");

    public static final ConfigOption<String> OPTIONS_FACTORY =
            ConfigOptions.key(PREFIX + "options-factory")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Your own options factory (a class that implements Flink's"
                                    + " RocksDBOptionsFactory), which is asked first;"
                                    + " state.backend.rocksdb.options-factory names this one.");

    /** All options, in the order of the documentation. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                TRIGGER_SPREAD,
                GATE,
                GATE_DEADLINE,
                GATE_DELAY,
                COMPACTION_THREADS,
                FLUSH_THREADS,
                OPTIONS_FACTORY);
    }

    private DesyncOptions() {}
}
