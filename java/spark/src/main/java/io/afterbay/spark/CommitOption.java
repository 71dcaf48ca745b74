package io.afterbay.spark;

import java.util.Arrays;
import java.util.List;

/**
 * The options {@code spark.afterbay.commit.*}. The table in docs/spark.md is made from here, and
 * names that are not here are refused.
 */
enum CommitOption {
    MODE(
            "mode",
            "word",
            "strict",
            "`strict`: the next batch is planned when all of the last one is published. `pipelined`:"
                    + " it is planned, reads and computes meanwhile",
            "Pipelined where batches follow each other without a pause, and the table above says"
                    + " that the query may run so. Also in the session of a query"),
    REPLAYABLE_SOURCES(
            "replayableSources",
            "class names, with commas",
            "",
            "Sources that keep what Spark has committed to them, beside those known",
            "Pipelined mode refuses your source, and it can be read again from any place that the"
                    + " offset log names. Also in the session"),
    UNDERLYING(
            "checkpointFileManagerClass",
            "class name",
            "",
            "Writes the published files; Spark's own choice if it is not set",
            "You had another class in `spark.sql.streaming.checkpointFileManagerClass` before, as"
                    + " for some object stores. Also in the session"),
    THREADS(
            "threads",
            "threads",
            "16",
            "Files published at once, of one checkpoint, in each process. A batch has two for each"
                    + " partition of its state, and their threads mostly wait for the storage",
            "Up, if `waitingFiles` stays above it from batch to batch; down, if the storage"
                    + " throttles you"),
    HEDGED(
            "hedgedPercentMax",
            "percent",
            "10",
            "Of all writes, how many may be begun a second time because they take unusually long; 0"
                    + " for none",
            "Down, where each write costs money and none stalls"),
    FILES(
            "pendingFilesMax",
            "files",
            "1000",
            "Files that may wait, in each process; whoever has more waits for room",
            "Up, with more than some hundred partitions of state in one process"),
    BYTES(
            "pendingBytesMax",
            "bytes",
            "256m",
            "Bytes of them, on the local disk; a larger file waits alone",
            "Up, if a batch changes more state than that in one process"),
    BANDWIDTH(
            "bytesPerSecondMax",
            "bytes in a second",
            "0",
            "Of all queries together, in each process, at least 64k for each of `threads`; those that"
                    + " write at once get the same. Snapshots, which Spark uploads, do not count. 0"
                    + " for no limit",
            "Shuffles or other jobs need the network more"),
    WAIT(
            "waitMax",
            "time",
            "120s",
            "How long anybody waits for room, or for a file to be published, until the query fails",
            "Up, if the storage may be away for longer, and the query shall wait; down, if its"
                    + " failure shall be seen sooner"),
    ATTEMPTS(
            "attemptsMax",
            "attempts",
            "8",
            "Writes of a file until the query fails, with pauses of 50 ms to 5 s between them",
            "Up, if the storage often answers with errors"),
    HANG(
            "hangMax",
            "time",
            "20s",
            "How long a write may read nothing of its local copy until another thread begins again",
            "Up, if healthy writes of the storage are silent for longer"),
    SILENCE(
            "silenceMax",
            "time",
            "20s",
            "How long an executor may say nothing until it counts as dead; at least 3s",
            "Up, if executors stop for longer in garbage collections");

    static final String PREFIX = "spark.afterbay.commit.";

    private final String shortName;
    private final String unit;
    private final String defaultValue;
    private final String meaning;
    private final String whenToChange;

    CommitOption(
            String shortName,
            String unit,
            String defaultValue,
            String meaning,
            String whenToChange) {
        this.shortName = shortName;
        this.unit = unit;
        this.defaultValue = defaultValue;
        this.meaning = meaning;
        this.whenToChange = whenToChange;
    }

    String key() {
        return PREFIX + shortName;
    }

    /** Without what all have in common. */
    String shortName() {
        return shortName;
    }

    /** Of a number; sizes and times take Spark's suffixes. */
    String unit() {
        return unit;
    }

    /** As a user would write it; empty for none. */
    String defaultValue() {
        return defaultValue;
    }

    String meaning() {
        return meaning;
    }

    String whenToChange() {
        return whenToChange;
    }

    /** In the order of the alphabet. */
    static List<String> keys() {
        return Arrays.stream(values()).map(CommitOption::key).sorted().toList();
    }
}
