package io.afterbay.experiments.spark;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import io.afterbay.bench.ResultFile;
import io.afterbay.bench.Trial;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One run of a query of MiSA on Spark, at a rate (open loop), or the search for the highest rate
 * that it sustains. In JSON all fields are those of one object. Figures that do not belong to a run
 * are null.
 */
@JsonDeserialize(using = SparkTrial.FromParts.class)
public record SparkTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Times times,
        @JsonUnwrapped Parts parts,
        @JsonUnwrapped Snapshots snapshots,
        @JsonUnwrapped Cost cost)
        implements Trial {
    /** What batches may take without a trigger at a rate that is sustained: MiSA's trigger. */
    public static final long LIMIT_MS = 3000;

    /**
     * What ran.
     *
     * @param variant how the query commits
     * @param ratePerS records per second; 0 for the search
     * @param dfs where the checkpoint is: {@code local} or {@code slow}
     * @param triggerMs time between the beginnings of two batches; 0 for one after the other
     * @param partitions of the state
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String variant,
            String query,
            int ratePerS,
            String dfs,
            long triggerMs,
            int partitions,
            int pair) {
        @JsonIgnore
        public boolean isSearch() {
            return ratePerS == 0;
        }
    }

    /**
     * How it ended.
     *
     * @param spark its version
     * @param rows identifies the rows of all batches, whatever their order
     * @param rowsRight whether they are those that plain Java says
     * @param sustainedPerS records per second at which batches do not pile up; 0 for none
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure,
            @Nullable String spark,
            @Nullable String rows,
            @Nullable Boolean rowsRight,
            @Nullable Double sustainedPerS) {
        static final Outcome NONE = new Outcome(null, null, null, null, null);
    }

    /**
     * Of the counted batches, each from when its records were chosen to its end.
     *
     * @param batches how many there are
     * @param delayP50Ms from when the oldest record of a batch was due until the batch had ended
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Times(
            @Nullable Integer batches,
            @Nullable Long records,
            @Nullable Double p50Ms,
            @Nullable Double p90Ms,
            @Nullable Double p99Ms,
            @Nullable Double maxMs,
            @Nullable Double delayP50Ms,
            @Nullable Double delayP99Ms,
            @Nullable Double delayMaxMs) {
        public static final Times NONE =
                new Times(null, null, null, null, null, null, null, null, null);
    }

    /**
     * Means of what a batch consists of. Times of tasks are those of all of them, divided by how
     * many run at once.
     *
     * @param batchMs all of it
     * @param walCommitMs {@code offsets/N} is written
     * @param planningMs the plan is made
     * @param addBatchMs tasks run, and the sink commits
     * @param commitOffsetsMs {@code commits/N} is written
     * @param stateCommitMs of the tasks, what commits of the state take
     * @param flushMs of that, RocksDB's flush
     * @param compactMs of that, compaction before the checkpoint
     * @param checkpointMs of that, RocksDB's local checkpoint
     * @param uploadMs of that, copying its files to the checkpoint
     * @param changelogMs of that, the end of the changelog
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Parts(
            @Nullable Double batchMs,
            @Nullable Double walCommitMs,
            @Nullable Double planningMs,
            @Nullable Double addBatchMs,
            @Nullable Double commitOffsetsMs,
            @Nullable Double stateCommitMs,
            @Nullable Double flushMs,
            @Nullable Double compactMs,
            @Nullable Double checkpointMs,
            @Nullable Double uploadMs,
            @Nullable Double changelogMs) {
        public static final Parts NONE =
                new Parts(null, null, null, null, null, null, null, null, null, null, null);

        /** Commit of the state and log writes, in percent of a batch; null without figures. */
        @JsonIgnore
        public @Nullable Double overheadPercent() {
            if (batchMs == null
                    || batchMs == 0
                    || walCommitMs == null
                    || commitOffsetsMs == null
                    || stateCommitMs == null) {
                return null;
            }
            return 100 * (walCommitMs + commitOffsetsMs + stateCommitMs) / batchMs;
        }
    }

    /**
     * Snapshots of RocksDB that tasks write at the end of a batch: a flush, and a checkpoint on the
     * local disk.
     *
     * @param batchesBySnapshots how many of the counted batches there are, by how many state stores
     *     made one in them; null in lines from before it was recorded
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Snapshots(@Nullable SortedMap<Integer, Integer> batchesBySnapshots) {
        public static final Snapshots NONE = new Snapshots(null);

        /** The most in one batch; null without figures. */
        @JsonIgnore
        public @Nullable Double most() {
            return counts().isEmpty() ? null : Double.valueOf(counts().lastKey());
        }

        /** In the mean of all batches; null without figures. */
        @JsonIgnore
        public @Nullable Double mean() {
            long all =
                    counts().entrySet().stream()
                            .mapToLong(entry -> (long) entry.getKey() * entry.getValue())
                            .sum();
            return counts().isEmpty() ? null : Double.valueOf((double) all / batches());
        }

        /** Batches with at least one, in percent; null without figures. */
        @JsonIgnore
        public @Nullable Double percentWithAny() {
            int without = counts().getOrDefault(0, 0);
            return counts().isEmpty() ? null : Double.valueOf(100 - 100.0 * without / batches());
        }

        /** Of some runs together, as in {@code 0: 81, 8: 9}. */
        static String distribution(List<SparkTrial> runs) {
            SortedMap<Integer, Integer> sums = new TreeMap<>();
            for (SparkTrial run : runs) {
                run.snapshots.counts().forEach((made, n) -> sums.merge(made, n, Integer::sum));
            }
            return sums.entrySet().stream()
                    .map(entry -> entry.getKey() + ": " + entry.getValue())
                    .collect(joining(", "));
        }

        private SortedMap<Integer, Integer> counts() {
            return batchesBySnapshots == null ? Collections.emptySortedMap() : batchesBySnapshots;
        }

        private int batches() {
            return counts().values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    /**
     * Of the process, while batches were counted.
     *
     * @param busy processor time as a share of the processors
     * @param rssMib largest resident set, from the start of the process
     * @param gcMs in collections
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Cost(
            @Nullable Double cpuUsPerRecord,
            @Nullable Double busy,
            @Nullable Double rssMib,
            @Nullable Double gcMs) {
        public static final Cost NONE = new Cost(null, null, null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<SparkTrial> {
        FromParts() {
            super(SparkTrial.class);
        }

        @Override
        public SparkTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new SparkTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Times.class),
                    ResultFile.part(all, Parts.class),
                    ResultFile.part(all, Snapshots.class),
                    ResultFile.part(all, Cost.class));
        }
    }

    /** A run without figures, which has not ended. */
    public static SparkTrial none(Setting setting) {
        return new SparkTrial(
                setting, Outcome.NONE, Times.NONE, Parts.NONE, Snapshots.NONE, Cost.NONE);
    }

    /** The same without figures, failed. */
    public SparkTrial failed(String reason) {
        return new SparkTrial(
                setting,
                new Outcome(reason, outcome.spark, null, null, null),
                Times.NONE,
                Parts.NONE,
                Snapshots.NONE,
                Cost.NONE);
    }

    /** The same with a rate that was found. */
    public SparkTrial found(String spark, double sustainedPerS) {
        return new SparkTrial(
                setting,
                new Outcome(null, spark, null, null, sustainedPerS),
                Times.NONE,
                Parts.NONE,
                Snapshots.NONE,
                Cost.NONE);
    }

    /** The same at the end of a run at a rate. */
    public SparkTrial with(
            String spark,
            String rows,
            boolean isRight,
            Times found,
            Parts means,
            Snapshots made,
            Cost used) {
        return new SparkTrial(
                setting, new Outcome(null, spark, rows, isRight, null), found, means, made, used);
    }

    @Override
    public String backend() {
        return setting.variant;
    }

    @Override
    public int pair() {
        return setting.pair;
    }

    @Override
    public @Nullable String failure() {
        return outcome.failure;
    }

    @Override
    public boolean counts() {
        return finished() && !Boolean.FALSE.equals(outcome.rowsRight);
    }
}
