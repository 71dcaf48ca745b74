package io.afterbay.flink.unit;

import io.afterbay.flink.AfterbayOptions;
import io.afterbay.flink.DesyncOptions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import org.apache.flink.util.TimeUtils;

/** Renders {@code docs/configuration.md} from the options. */
final class ConfigurationDocument {
    private static final String HEAD =
            """
            # Configuration of the Flink state backend

            Generated from `AfterbayOptions`; to change it, change that and run
            `mvn test -pl flink -am -Dtest=AfterbayOptionsTest -Dafterbay.docs.write=true -Dsurefire.failIfNoSpecifiedTests=false` in `java/`.

            The backend is chosen by

            ```yaml
            state.backend.type: io.afterbay.flink.AfterbayStateBackendFactory
            ```

            An option that does not exist, a value that is not allowed and options that contradict each other
            fail the job when it starts, with the key, the value and what is allowed.

            | option | type | default | meaning |
            |---|---|---|---|
            """;

    private static final String METRICS =
            """

            ## Metrics

            Gauges of each operator with keyed state, in the group `afterbay`; sampled every 4096 changes of the
            key and at every checkpoint.

            | metric | meaning |
            |---|---|
            | `memoryUsedBytes` | memory that the store holds now, out of its slot's budget |
            | `memoryLimitBytes` | the store's present share of the budget |
            | `diskLiveBytes` | bytes in local files that are still needed |
            | `diskTotalBytes` | bytes in local files; divided by the former: space amplification |
            | `diskWrittenBytes` | written to local files since the start |
            | `diskReadBytes` | read from local files since the start |
            | `compactedBytes` | the part of `diskWrittenBytes` that compaction moved |
            | `pageFaults` | reads that had to go to a file, and were waited for one by one |
            | `pagesReadAhead` | pages that were read from files before they were needed, several at a time (`file.read-threads`) |
            | `readAheadHitRatio` | the part of `pagesReadAhead` that was used, or is still in memory; from 0 to 1, and 1 if nothing was read ahead |
            | `readAmplification` | pages that operations have read from files, for each of them that was used; 1 or more. What leaves memory unused and is read again makes it grow |
            | `evictions` | pages that left memory |
            | `writeStalls` | times the task wrote itself, or waited for a write, since all write buffers were full |
            | `writeStallNanos` | how long it waited in all, in nanoseconds |
            | `compactionStalls` | times the task compacted or deleted local files itself before it wrote more, since there was over four times the permitted garbage ([flink.md](flink.md#5-watch-it)) |
            | `compactionStallNanos` | how long that took in all, in nanoseconds |
            | `restoreMissingBytes` | what a restore has to download yet, behind the running job (`checkpoint.lazy-restore`); not sampled |

            Of the object tier (`object-tier.enabled`); 0 without, or if no state can be kept in it:

            | metric | meaning |
            |---|---|
            | `objectHits` | lookups since the start that found the object, and serialised nothing |
            | `objectMisses` | those that went on to the store |
            | `objectWriteBacks` | changes that were written to the store after all |

            Of the background work of all stores in the TaskManager process, so the same at each operator:

            | metric | meaning |
            |---|---|
            | `processTasksQueued` | writes and compactions that have not begun |
            | `processTasksRunning` | those at work now |
            | `processTasksDelayed` | the part of `processTasksQueued` that waits for its time or for the end of a checkpoint (`file.compaction-delay`) |
            | `processTasksOverdue` | compactions since the start that began after `file.compaction-delay`: too few threads, or checkpoints that take longer |

            Of incremental checkpoints; 0 without:

            | metric | meaning |
            |---|---|
            | `checkpointLogBytes` | the redo log of the last checkpoint, which a restore would replay |
            | `checkpointLogStalls` | times the task wrote its log itself, or waited for a write of it, since too much was waiting |
            | `checkpointBases` | bases written since the start |
            | `checkpointUploadedBytes` | uploaded by checkpoints since the start |
            | `checkpointEarlyFiles` | files in checkpoint storage that no checkpoint refers to yet: a base that was written behind the checkpoints, segments of the log |
            | `checkpointLocalCopies` | checkpoints since the start that are on this machine too, for local recovery |
            | `checkpointLocalCopyFailures` | what could not be kept for local recovery; the log says why |
            """;

    private static final String DESYNC =
            """

            # Options for jobs on Flink's RocksDB backend

            Generated from `DesyncOptions`, in the same way. [desync.md](desync.md) says what they do and when they help; they are read if

            ```yaml
            state.backend.type: rocksdb
            state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory
            ```

            | option | type | default | meaning |
            |---|---|---|---|
            """;

    private ConfigurationDocument() {}

    static String render() {
        return HEAD + rows(AfterbayOptions.all()) + METRICS + DESYNC + rows(DesyncOptions.all());
    }

    private static String rows(List<ConfigOption<?>> options) {
        return options.stream()
                .map(ConfigurationDocument::row)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static String row(ConfigOption<?> option) {
        return "| `%s` | %s | %s | %s |"
                .formatted(
                        option.key(),
                        type(option),
                        option.hasDefaultValue()
                                ? "`" + text(option.defaultValue()) + "`"
                                : "(none)",
                        new HtmlFormatter().format(option.description()));
    }

    private static String text(Object value) {
        return value instanceof Duration duration
                ? TimeUtils.formatWithHighestUnit(duration)
                : value.toString();
    }

    private static String type(ConfigOption<?> option) {
        if (option == AfterbayOptions.MANAGED_MEMORY
                || option == AfterbayOptions.COMPRESSION
                || option == AfterbayOptions.LAZY_RESTORE
                || option == AfterbayOptions.OBJECT_TIER
                || option == DesyncOptions.TRIGGER_SPREAD
                || option == DesyncOptions.GATE) {
            return "Boolean";
        }
        if (option == AfterbayOptions.FIXED_MEMORY_PER_SLOT
                || option == AfterbayOptions.REDO_LOG_SIZE) {
            return "size";
        }
        if (option == AfterbayOptions.COMPACTION_DELAY
                || option == DesyncOptions.GATE_DEADLINE
                || option == DesyncOptions.GATE_DELAY) {
            return "duration";
        }
        if (option == DesyncOptions.COMPACTION_THREADS || option == DesyncOptions.FLUSH_THREADS) {
            return "word or number";
        }
        if (option == DesyncOptions.OPTIONS_FACTORY) {
            return "class";
        }
        if (option == AfterbayOptions.LOCAL_DIRECTORIES) {
            return "list, `;` between";
        }
        return option == AfterbayOptions.MAX_SPACE_AMPLIFICATION ? "number" : "integer";
    }
}
