package io.afterbay.bench;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One run of the traffic-jam job on RocksDB, with a cure of aligned flushes and compactions or
 * without: as fast as possible (closed loop), or at a rate (open loop). In JSON all fields are
 * those of one object. Figures of the other loop are null.
 */
@JsonDeserialize(using = DesyncTrial.FromParts.class)
public record DesyncTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Latency latency,
        @JsonUnwrapped Overlap overlap)
        implements Trial {

    /**
     * What ran.
     *
     * @param cure what was set to keep instances apart; {@code default}: nothing
     * @param subtasks of each keyed stage; the windows of all streets have one more
     * @param intervalMs between checkpoints
     * @param payloadBytes in the state of each car
     * @param threads of RocksDB for flushes and compactions, as in {@code
     *     state.backend.rocksdb.thread.num}
     * @param loadPercent rate of the open loop, in percent of the maximum rate; 0: closed loop
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String backend,
            String cure,
            int subtasks,
            long intervalMs,
            int payloadBytes,
            int threads,
            int loadPercent,
            int pair) {}

    /**
     * How it ended.
     *
     * @param rows identifies what came out, whatever the order; null if that was not reached
     * @param eventsPerS in the closed loop
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure, @Nullable String rows, @Nullable Double eventsPerS) {
        static final Outcome NONE = new Outcome(null, null, null);
    }

    /**
     * Of the rankings, from when their last report was due.
     *
     * @param ratePerS events per second
     * @param cpuCores processors that the whole process kept busy
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Latency(
            @Nullable Double ratePerS,
            @Nullable Double p50Ms,
            @Nullable Double p95Ms,
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs,
            @Nullable Double cpuCores) {
        static final Latency NONE = new Latency(null, null, null, null, null, null, null);
    }

    /**
     * What RocksDB's logs say of the open loop, as {@code afterbay doctor} reads them.
     *
     * @param verdict whether instances compact together
     * @param alignment within stages, 0 to 1; null if nothing could be compared
     * @param instances that flushed or compacted
     * @param mostPerRound instances that compact after the same checkpoint, at the worst
     * @param mostAtOnce instances that compact at the same moment, at the worst
     * @param flushesMet part of the time of flushes during which an instance compacts
     * @param stalls how often RocksDB slowed or stopped writers
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Overlap(
            @Nullable String verdict,
            @Nullable Double alignment,
            @Nullable Integer instances,
            @Nullable Integer flushes,
            @Nullable Integer compactions,
            @Nullable Integer mostPerRound,
            @Nullable Integer mostAtOnce,
            @Nullable Double flushesMet,
            @Nullable Integer stalls) {
        static final Overlap NONE =
                new Overlap(null, null, null, null, null, null, null, null, null);
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
                    ResultFile.part(all, Overlap.class));
        }
    }

    /** A run without figures, which has not ended. */
    public static DesyncTrial none(Setting setting) {
        return new DesyncTrial(setting, Outcome.NONE, Latency.NONE, Overlap.NONE);
    }

    /** The same without figures, failed. */
    public DesyncTrial failed(String reason) {
        return new DesyncTrial(
                setting, new Outcome(reason, null, null), Latency.NONE, Overlap.NONE);
    }

    /** The same at the end of a closed loop. */
    public DesyncTrial with(String rows, double eventsPerS) {
        return new DesyncTrial(setting, new Outcome(null, rows, eventsPerS), latency, overlap);
    }

    /** The same at the end of an open loop. */
    public DesyncTrial with(String rows, Latency figures, Overlap found) {
        return new DesyncTrial(setting, new Outcome(null, rows, null), figures, found);
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
