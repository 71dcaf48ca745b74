package io.afterbay.spark;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a query's session that the order of docs/spark-commit.md needs. Spark copies them
 * into the Hadoop configuration that file managers get.
 */
final class QuerySettings {
    static final String FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass";
    static final String UNDERLYING = CommitOption.UNDERLYING.key();

    static final String MODE = CommitOption.MODE.key();
    static final String REPLAYABLE = CommitOption.REPLAYABLE_SOURCES.key();
    static final String STRICT = "strict";
    private static final String PIPELINED = "pipelined";

    private static final String STREAMING = "spark.sql.streaming.";
    private static final String STATE_STORE = STREAMING + "stateStore.";
    private static final String RETAINED = STREAMING + "minBatchesToRetain";

    /** The last committed batch, the one that is done, and the one that runs. */
    private static final int RETAINED_MIN = 3;

    /**
     * In strict mode: the last committed batch, and the one whose end an executor may take along.
     */
    private static final int RETAINED_MIN_STRICT = 2;

    static final String FORMAT = STATE_STORE + "checkpointFormatVersion";

    static final String PROVIDER = STATE_STORE + "providerClass";
    static final String ROCKSDB =
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider";

    /** Not the class itself, which would load Spark's. */
    static final String STAGGERED = "io.afterbay.spark.StaggeredRocksDBStateStoreProvider";

    private QuerySettings() {}

    /**
     * @throws IllegalArgumentException with the line that mends it
     */
    static void check(Configuration settings) {
        require(settings, FORMAT, "2", "a commit has to name the state files that belong to it");
        require(
                settings,
                STATE_STORE + "rocksdb.changelogCheckpointing.enabled",
                "true",
                "snapshots are uploaded past Spark's file manager");
        if (!isStaggered(settings)) {
            require(
                    settings,
                    PROVIDER,
                    ROCKSDB,
                    "no other state store of Spark's has format 2 and changelogs");
        }
        int needed = isPipelined(settings) ? RETAINED_MIN : RETAINED_MIN_STRICT;
        int retained = settings.getInt(RETAINED, needed);
        if (retained < needed) {
            throw refused(
                    RETAINED,
                    Integer.toString(retained),
                    Integer.toString(needed),
                    "a restart may need the state of as many batches");
        }
        if ("false".equalsIgnoreCase(settings.get(STREAMING + "metadataCache.enabled"))) {
            throw refused(
                    STREAMING + "metadataCache.enabled",
                    "false",
                    "true",
                    "Spark reads the logs in each batch without it");
        }
    }

    /**
     * An application with the plug-in has to say which file manager its queries have: without one,
     * they would run as Spark alone runs them, and nobody would notice.
     *
     * @throws IllegalArgumentException with the line that mends it
     */
    static void requireSomeFileManager(SparkConf application) {
        if (!application.contains(FILE_MANAGER)) {
            throw new IllegalArgumentException(
                    "Afterbay's plug-in is on, and no query would use it: "
                            + FILE_MANAGER
                            + " is not set. Set "
                            + FILE_MANAGER
                            + "="
                            + AfterbayCheckpointFileManager.class.getName()
                            + ", or remove "
                            + AfterbaySparkPlugin.class.getName()
                            + " from spark.plugins. A session whose queries shall run without"
                            + " Afterbay unsets "
                            + FILE_MANAGER);
        }
    }

    /**
     * @throws IllegalArgumentException if the mode is neither
     */
    static boolean isPipelined(Configuration settings) {
        return isPipelined(settings.get(MODE, STRICT));
    }

    static boolean isPipelined(String mode) {
        if (!mode.equals(STRICT) && !mode.equals(PIPELINED)) {
            throw new IllegalArgumentException(
                    MODE + " must be " + STRICT + " or " + PIPELINED + ", not " + mode);
        }
        return mode.equals(PIPELINED);
    }

    /** Whether snapshots are written in turns. */
    static boolean isStaggered(Configuration settings) {
        return STAGGERED.equals(settings.get(PROVIDER));
    }

    /**
     * @throws IllegalArgumentException if the offset log is not ours to write
     */
    static void requireFileManager(Configuration settings) {
        String fileManager = AfterbayCheckpointFileManager.class.getName();
        if (!fileManager.equals(settings.get(FILE_MANAGER))) {
            throw new IllegalArgumentException(
                    STAGGERED
                            + " works with Afterbay's file manager only: the checkpoint would need"
                            + " it for ever. Set "
                            + PROVIDER
                            + "="
                            + ROCKSDB
                            + ", or "
                            + FILE_MANAGER
                            + "="
                            + fileManager);
        }
    }

    private static void require(Configuration settings, String key, String value, String reason) {
        String is = settings.get(key);
        if (!value.equalsIgnoreCase(is)) {
            throw refused(key, is, value, reason);
        }
    }

    private static IllegalArgumentException refused(
            String key, @Nullable String is, String needed, String reason) {
        return new IllegalArgumentException(
                "Afterbay cannot publish this query's checkpoint: "
                        + key
                        + " is "
                        + (is == null ? "not set" : is)
                        + ", and "
                        + reason
                        + ". Set "
                        + key
                        + "="
                        + needed);
    }

    /** The file manager that Spark would use without us, or the one that the user wants. */
    static CheckpointFileManager underlying(Path path, Configuration settings) {
        Configuration others = new Configuration(settings);
        String wanted = settings.get(UNDERLYING);
        if (wanted == null) {
            others.unset(FILE_MANAGER);
        } else {
            others.set(FILE_MANAGER, wanted);
        }
        return CheckpointFileManager.create(path, others);
    }
}
