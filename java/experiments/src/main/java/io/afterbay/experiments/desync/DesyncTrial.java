package io.afterbay.experiments.desync;

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
import org.jspecify.annotations.Nullable;

/**
 * One run of the traffic-jam job of Flink, or of word count on Kafka Streams, on RocksDB, with a
 * cure of aligned flushes and compactions or without, at a rate (open loop); or the run before
 * these, which seeks the rate that takes a given share of the processors. In JSON all fields are
 * those of one object. Figures that do not belong to a run are null.
 */
@JsonDeserialize(using = DesyncTrial.FromParts.class)
public record DesyncTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Latency latency,
        @JsonUnwrapped Overlap overlap,
        @JsonUnwrapped Gate gate,
        @JsonUnwrapped Pools pools)
        implements Trial {

    /**
     * What ran.
     *
     * @param cure what was set to keep instances apart; {@code default}: nothing; {@code rate}: the
     *     run before the others, which seeks the rate
     * @param value of what a sweep goes over, which {@code cure} names then; null: no sweep
     * @param subtasks of each keyed stage; the windows of all streets have one more
     * @param intervalMs between checkpoints
     * @param payloadBytes of each report in the state of a car
     * @param history reports in the state of a car
     * @param work computing for each report, see {@code run traffic-jam --work}
     * @param threads of RocksDB for flushes and compactions, as in {@code
     *     state.backend.rocksdb.thread.num}
     * @param storage of RocksDB's files and of checkpoints: {@code disk} or {@code tmpfs}
     * @param loadPercent CPU time that the process is to take, in percent of the processors
     * @param vocabulary of word count on Kafka Streams, which {@code backend} names with its
     *     version then; null: the traffic-jam job on Flink. Word count has no ballast, history and
     *     work, and {@code subtasks} are its partitions
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String backend,
            String cure,
            @Nullable Integer value,
            int subtasks,
            long intervalMs,
            int payloadBytes,
            int history,
            int work,
            int threads,
            String storage,
            int loadPercent,
            @Nullable Integer vocabulary,
            int pair) {
        /** The cure of the run that seeks the rate. */
        public static final String RATE = "rate";

        /** The setting of the run that seeks the rate of this one. */
        public Setting ofRate() {
            return with(RATE, null, 1);
        }

        /** The same with something else that is tried. */
        public Setting with(String otherCure, @Nullable Integer otherValue, int otherPair) {
            return new Setting(
                    backend,
                    otherCure,
                    otherValue,
                    subtasks,
                    intervalMs,
                    payloadBytes,
                    history,
                    work,
                    threads,
                    storage,
                    loadPercent,
                    vocabulary,
                    otherPair);
        }

        /** The cure, or what the sweep is at. */
        public String caseName() {
            return value == null ? cure : cure + " " + value;
        }

        @JsonIgnore
        public boolean isOfRate() {
            return RATE.equals(cure);
        }
    }

    /**
     * How it ended.
     *
     * @param rows identifies what came out, whatever the order; null if that was not reached
     * @param eventsPerS as fast as possible
     * @param cpuUsPerEvent as fast as possible, of the whole process
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure,
            @Nullable String rows,
            @Nullable Double eventsPerS,
            @Nullable Double cpuUsPerEvent) {
        static final Outcome NONE = new Outcome(null, null, null, null);
    }

    /**
     * Of the reports, from when each was due until it was in the state of its street.
     *
     * @param ratePerS events per second; of the run that seeks it, what it found
     * @param p90Ms null in lines from before it was recorded
     * @param maxRankingMs the same for the rankings, from when the last report of one was due
     * @param busy CPU time of the process, as a share of the processors; that of the run that seeks
     *     the rate is of its last attempt
     * @param mostWaiting events that were due and not yet there, at the worst
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Latency(
            @Nullable Double ratePerS,
            @Nullable Double p50Ms,
            @Nullable Double p90Ms,
            @Nullable Double p95Ms,
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs,
            @Nullable Double maxRankingMs,
            @Nullable Double busy,
            @Nullable Long mostWaiting) {
        static final Latency NONE =
                new Latency(null, null, null, null, null, null, null, null, null, null);

        /** A rate and what it took. */
        public static Latency of(double ratePerS, double busy) {
            return new Latency(ratePerS, null, null, null, null, null, null, null, busy, null);
        }
    }

    /**
     * What RocksDB's logs say of the open loop, as {@code afterbay doctor} reads them.
     *
     * @param verdict whether instances compact together
     * @param alignment within stages, 0 to 1; null if nothing could be compared
     * @param instances that flushed or compacted
     * @param forCheckpoints part of the flushes that a checkpoint asked for; the others are of full
     *     memtables
     * @param longestWaveMs the longest time in which compactions ran after one checkpoint
     * @param mostPerRound instances that compact after the same checkpoint, at the worst
     * @param mostAtOnce instances that compact at the same moment, at the worst
     * @param flushesMet part of the time of flushes during which an instance compacts
     * @param mostFlushes at the same moment, at the worst; null in lines from before it was
     *     recorded
     * @param burstMs how long instances flush for a checkpoint, P90; as {@code mostFlushes}
     * @param kneeThreads compactions at once beyond which latency rises steeply in the windows of
     *     this run; null if there is no knee
     * @param stalls how often RocksDB slowed or stopped writers
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Overlap(
            @Nullable String verdict,
            @Nullable Double alignment,
            @Nullable Integer instances,
            @Nullable Integer flushes,
            @Nullable Double forCheckpoints,
            @Nullable Integer compactions,
            @Nullable Double longestWaveMs,
            @Nullable Integer mostPerRound,
            @Nullable Integer mostAtOnce,
            @Nullable Double flushesMet,
            @Nullable Integer mostFlushes,
            @Nullable Double burstMs,
            @Nullable Integer kneeThreads,
            @Nullable Integer stalls) {
        /** Without RocksDB. */
        public static final Overlap NONE =
                new Overlap(
                        null, null, null, null, null, null, null, null, null, null, null, null,
                        null, null);
    }

    /**
     * What our gate did in the open loop; nulls without one.
     *
     * @param holds how often compactions were held back
     * @param heldMs how long, in all
     * @param delayMs T of the last burst
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Gate(@Nullable Long holds, @Nullable Double heldMs, @Nullable Double delayMs) {
        public static final Gate NONE = new Gate(null, null, null);
    }

    /**
     * RocksDB's threads in the process, as they were set for most of the open loop; nulls without
     * RocksDB, and in lines from before they were recorded.
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Pools(@Nullable Integer flushThreads, @Nullable Integer compactionThreads) {
        public static final Pools NONE = new Pools(null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<DesyncTrial> {
        FromParts() {
            super(DesyncTrial.class);
        }

        @Override
        public DesyncTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new DesyncTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Latency.class),
                    ResultFile.part(all, Overlap.class),
                    ResultFile.part(all, Gate.class),
                    ResultFile.part(all, Pools.class));
        }
    }

    /** A run without figures, which has not ended. */
    public static DesyncTrial none(Setting setting) {
        return new DesyncTrial(
                setting, Outcome.NONE, Latency.NONE, Overlap.NONE, Gate.NONE, Pools.NONE);
    }

    /** The same without figures, failed. */
    public DesyncTrial failed(String reason) {
        return new DesyncTrial(
                setting,
                new Outcome(reason, null, null, null),
                Latency.NONE,
                Overlap.NONE,
                Gate.NONE,
                Pools.NONE);
    }

    /** The same with a rate that was found, and what the process did as fast as possible. */
    public DesyncTrial with(double eventsPerS, double cpuUsPerEvent, Latency found) {
        return new DesyncTrial(
                setting,
                new Outcome(null, null, eventsPerS, cpuUsPerEvent),
                found,
                overlap,
                gate,
                pools);
    }

    /** The same at the end of an open loop. */
    public DesyncTrial with(String rows, Latency figures, Overlap found, Gate did, Pools had) {
        return new DesyncTrial(
                setting, new Outcome(null, rows, null, null), figures, found, did, had);
    }

    @Override
    public String backend() {
        return setting.backend;
    }

    @Override
    public int pair() {
        return setting.pair;
    }

    @Override
    public @Nullable String failure() {
        return outcome.failure;
    }
}
