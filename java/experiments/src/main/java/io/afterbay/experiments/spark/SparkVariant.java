package io.afterbay.experiments.spark;

import io.afterbay.experiments.Labelled;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How a query on Spark commits: as Spark can be configured to, as other systems would, or with
 * Afterbay. Settings are Spark's; a variant of ours is one more line.
 */
enum SparkVariant implements Labelled {
    /** RocksDB's checkpoints are copied at the end of each batch: Spark's default, and MiSA's. */
    SNAPSHOT("snapshot", Map.of()),

    /** Changelogs in format 2: the strongest that Spark has. */
    CHANGELOG("changelog", changelog()),

    /**
     * Snapshots whose copies go on behind the task, as in Databricks' asynchronous checkpoints and
     * in MiSA's Async.Ckp: a model of their speed by the slow file system, not of their safety.
     */
    ASYNC_UPLOAD("async-upload", Map.of("spark.hadoop.fs.slow.async-state", "true")),

    /** Snapshots in batches that are cut by a deadline, as in zStream. */
    DEADLINE("deadline", Map.of()),

    /** Ours, as it is by default. */
    STRICT("strict", ours()),

    /** Partitions write their snapshots in turns. */
    STRICT_STAGGERED("strict-staggered", ours(Ours.TURNS)),

    /** The next batch runs while the last one is published. */
    PIPELINED("pipelined", ours(Ours.PIPELINED)),

    /** Both. */
    PIPELINED_STAGGERED("pipelined-staggered", ours(Ours.PIPELINED, Ours.TURNS)),

    /** The negative control: changelogs, and one record does not come. */
    CONTROL("control", changelog());

    private final String label;
    private final Map<String, String> settings;

    SparkVariant(String label, Map<String, String> settings) {
        this.label = label;
        this.settings = settings;
    }

    private static Map<String, String> changelog() {
        String state = "spark.sql.streaming.stateStore.";
        return Map.of(
                state + "rocksdb.changelogCheckpointing.enabled", "true",
                state + "checkpointFormatVersion", "2");
    }

    /** What can be set beside the plug-in. */
    private static final class Ours {
        static final Map<String, String> TURNS =
                Map.of(PROVIDER, "io.afterbay.spark.StaggeredRocksDBStateStoreProvider");

        /** The source of these runs can read every record again. */
        static final Map<String, String> PIPELINED =
                Map.of(
                        MODE,
                        "pipelined",
                        "spark.afterbay.commit.replayableSources",
                        "io.afterbay.spark.workloads.RecordSource");
    }

    private static final String MODE = "spark.afterbay.commit.mode";
    private static final String PROVIDER = "spark.sql.streaming.stateStore.providerClass";

    /** Afterbay, with more settings. */
    @SafeVarargs
    private static Map<String, String> ours(Map<String, String>... more) {
        Map<String, String> settings = new LinkedHashMap<>(changelog());
        settings.put("spark.plugins", "io.afterbay.spark.AfterbaySparkPlugin");
        settings.put(
                "spark.sql.streaming.checkpointFileManagerClass",
                "io.afterbay.spark.AfterbayCheckpointFileManager");
        for (Map<String, String> some : more) {
            settings.putAll(some);
        }
        return settings;
    }

    @Override
    public String label() {
        return label;
    }

    /** Settings of Spark, all of them. */
    Map<String, String> settings() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put(
                PROVIDER,
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider");
        all.putAll(settings);
        return all;
    }

    /** Whether logs are written behind the batch. */
    boolean isOurs() {
        return settings.containsKey("spark.plugins");
    }

    /** Whether offsets, too, are written behind the batch. */
    boolean isPipelined() {
        return settings.containsKey(MODE);
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static SparkVariant named(String label) {
        return Labelled.named(SparkVariant.class, label);
    }

    public static final class Converter extends Labelled.Converter<SparkVariant> {
        public Converter() {
            super(SparkVariant.class);
        }
    }
}
