package io.afterbay.experiments.blobcluster;

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
 * One run of a load on a cluster of blob stores. In JSON all fields are those of one object.
 * Figures that do not belong to a run are null.
 */
@JsonDeserialize(using = ClusterTrial.FromParts.class)
public record ClusterTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Rates rates,
        @JsonUnwrapped Cost cost,
        @JsonUnwrapped Kill kill)
        implements Trial {

    /** The operation of a run in which a node is killed. */
    public static final String KILL = "kill";

    /**
     * What ran.
     *
     * @param variant the cluster
     * @param operation {@code put}, {@code get}, or {@link #KILL}
     * @param sizeBytes of an object
     * @param clients connections, each with one request at a time
     * @param ratePerS requests that are due in a second of a kill; 0: as many as can be (closed
     *     loop)
     * @param phaseMs how long each phase of a kill is at least; 0 without
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String variant,
            String operation,
            long sizeBytes,
            int clients,
            long ratePerS,
            long phaseMs,
            int pair) {
        @JsonIgnore
        public boolean isKill() {
            return operation.equals(KILL);
        }

        /** The same of another cluster, in another round. */
        Setting as(String otherVariant, int otherPair) {
            return new Setting(
                    otherVariant, operation, sizeBytes, clients, ratePerS, phaseMs, otherPair);
        }
    }

    /**
     * How it ended.
     *
     * @param errors requests of the load that failed
     * @param verified objects that were acknowledged and could be read at the end, of which every
     *     byte was compared; of a kill twice, at one node and at another one
     * @param wrong objects or answers that were not what was put
     * @param lost objects that were acknowledged and could not be read, each time
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure,
            @Nullable Long errors,
            @Nullable Long verified,
            @Nullable Long wrong,
            @Nullable Long lost) {
        static final Outcome NONE = new Outcome(null, null, null, null, null);
    }

    /**
     * Of the counted time of puts or gets; latencies are those of requests that succeeded.
     *
     * @param mbPerS millions of bytes
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Rates(
            @Nullable Long requests,
            @Nullable Double seconds,
            @Nullable Double requestsPerS,
            @Nullable Double mbPerS,
            @Nullable Double p50Ms,
            @Nullable Double p90Ms,
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs) {
        public static final Rates NONE =
                new Rates(null, null, null, null, null, null, null, null, null);
    }

    /**
     * Of all nodes together, in the counted time.
     *
     * @param nodesCpuSecondsPerGb processor seconds for a thousand million bytes
     * @param nodesRssMib the largest resident sets of the nodes, added
     * @param writtenBytesPerRequest what they caused to be written to disks
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Cost(
            @Nullable Double nodesCpuUsPerRequest,
            @Nullable Double nodesCpuSecondsPerGb,
            @Nullable Double clientCpuSecondsPerGb,
            @Nullable Double nodesRssMib,
            @Nullable Double writtenBytesPerRequest) {
        public static final Cost NONE = new Cost(null, null, null, null, null);
    }

    /**
     * Of a node that is killed and comes back. A request counts in each phase in which it was under
     * way.
     *
     * @param calmRequests answered before the kill
     * @param awayRequests answered while the node was away
     * @param backRequests answered from its start on
     * @param wholeAfterMs from when the node was ready until nothing was missing anywhere; the load
     *     goes on for a part of it
     * @param whole whether nothing was missing, neither then nor when the lost disk was filled
     *     again
     * @param lag records that a replica had not taken over at these times, null if that is not
     *     known
     * @param underReplicatedBytes at these times
     * @param onLostDiskOnly objects of which the disk that is lost had the only copy
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Kill(
            @Nullable Long calmRequests,
            @Nullable Long awayRequests,
            @Nullable Long backRequests,
            @Nullable Double calmP50Ms,
            @Nullable Double calmP99Ms,
            @Nullable Double awayP99Ms,
            @Nullable Double awayMaxMs,
            @Nullable Double backP99Ms,
            @Nullable Double backMaxMs,
            @Nullable Double wholeAfterMs,
            @Nullable Boolean whole,
            @Nullable Long lag,
            @Nullable Long underReplicatedBytes,
            @Nullable Long onLostDiskOnly) {
        public static final Kill NONE =
                new Kill(
                        null, null, null, null, null, null, null, null, null, null, null, null,
                        null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<ClusterTrial> {
        FromParts() {
            super(ClusterTrial.class);
        }

        @Override
        public ClusterTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new ClusterTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Rates.class),
                    ResultFile.part(all, Cost.class),
                    ResultFile.part(all, Kill.class));
        }
    }

    /** A run without figures, which has not ended. */
    public static ClusterTrial none(Setting setting) {
        return new ClusterTrial(setting, Outcome.NONE, Rates.NONE, Cost.NONE, Kill.NONE);
    }

    /** The same without figures, failed. */
    public ClusterTrial failed(String reason) {
        return new ClusterTrial(
                setting,
                new Outcome(reason, null, null, null, null),
                Rates.NONE,
                Cost.NONE,
                Kill.NONE);
    }

    /** The same at the end of puts or gets. */
    public ClusterTrial with(Outcome ended, Rates found, Cost used) {
        return new ClusterTrial(setting, ended, found, used, Kill.NONE);
    }

    /** The same at the end of a kill. */
    public ClusterTrial with(Outcome ended, Kill found) {
        return new ClusterTrial(setting, ended, Rates.NONE, Cost.NONE, found);
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
        return finished() && isZero(outcome.wrong) && isZero(outcome.lost);
    }

    private static boolean isZero(@Nullable Long count) {
        return count == null || count == 0;
    }
}
