package io.afterbay.experiments.edge;

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
 * One run of an app, in halves and as a whole. In JSON all fields are those of one object. Figures
 * that a run does not have are null.
 */
@JsonDeserialize(using = EdgeTrial.FromParts.class)
public record EdgeTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Halves halves,
        @JsonUnwrapped Whole whole,
        @JsonUnwrapped Producers producers,
        @JsonUnwrapped MiniCluster miniCluster)
        implements Trial {

    /**
     * What ran.
     *
     * @param variant how the whole job gets what the sites see, or the control
     * @param linkBitsPerS of each site's link, in each direction
     * @param playMs in which all that the sites see is played
     * @param outageMs in which no link carries anything
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String variant, long linkBitsPerS, long playMs, long outageMs, int pair) {}

    /**
     * How it ended.
     *
     * @param equal whether the rows of both ways are the same
     * @param rows of the job in halves
     * @param lines that the sites have seen
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure,
            @Nullable Boolean equal,
            @Nullable String difference,
            @Nullable Long rows,
            @Nullable Long lines) {
        static final Outcome NONE = new Outcome(null, null, null, null, null);
    }

    /**
     * The job in halves.
     *
     * @param halvesBytes over all links, both directions
     * @param halvesAgeP50Ms of results, over all moments of the sites' time
     * @param agentPeakBytes resident memory of the largest agent
     * @param agentCpuMs processor time of all agents
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Halves(
            @Nullable Long halvesBytes,
            @Nullable Double halvesAgeP50Ms,
            @Nullable Double halvesAgeP99Ms,
            @Nullable Long agentPeakBytes,
            @Nullable Long agentCpuMs) {
        static final Halves NONE = new Halves(null, null, null, null, null);
    }

    /** The whole job. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Whole(
            @Nullable Long wholeBytes,
            @Nullable Double wholeAgeP50Ms,
            @Nullable Double wholeAgeP99Ms) {
        static final Whole NONE = new Whole(null, null, null);
    }

    /**
     * The Kafka producers of the whole job, each in a JVM of its own; only of the variant with
     * these.
     *
     * @param producerPeakBytes resident memory of the largest
     * @param producerCpuMs processor time of all of them, from the start of their JVMs
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Producers(@Nullable Long producerPeakBytes, @Nullable Long producerCpuMs) {
        static final Producers NONE = new Producers(null, null);
    }

    /**
     * A MiniCluster of Flink's that did the whole job on files; only of the variant with it.
     *
     * @param miniClusterPeakBytes resident memory
     * @param miniClusterCpuMs processor time for all lines, once it is warm
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record MiniCluster(
            @Nullable Long miniClusterPeakBytes, @Nullable Long miniClusterCpuMs) {
        static final MiniCluster NONE = new MiniCluster(null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<EdgeTrial> {
        FromParts() {
            super(EdgeTrial.class);
        }

        @Override
        public EdgeTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new EdgeTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Halves.class),
                    ResultFile.part(all, Whole.class),
                    ResultFile.part(all, Producers.class),
                    ResultFile.part(all, MiniCluster.class));
        }
    }

    /** A run without figures, which has not ended. */
    static EdgeTrial none(Setting setting) {
        return none(setting, Outcome.NONE);
    }

    /** The same without figures, failed. */
    EdgeTrial failed(String reason) {
        return none(setting, new Outcome(reason, null, null, null, null));
    }

    private static EdgeTrial none(Setting setting, Outcome outcome) {
        return new EdgeTrial(
                setting, outcome, Halves.NONE, Whole.NONE, Producers.NONE, MiniCluster.NONE);
    }

    /** The same at its end. */
    EdgeTrial with(
            Outcome ended, Halves inHalves, Whole asWhole, Producers ofKafka, MiniCluster ofFlink) {
        return new EdgeTrial(setting, ended, inHalves, asWhole, ofKafka, ofFlink);
    }

    /** Bytes over the links, to those of the whole job. */
    @Nullable Double bytesRatio() {
        return ratio(halves.halvesBytes, whole.wholeBytes);
    }

    /** Resident memory of an agent, to that of a MiniCluster. */
    @Nullable Double memoryRatio() {
        return ratio(halves.agentPeakBytes, miniCluster.miniClusterPeakBytes);
    }

    /** Lines for a second of the agents' processor time, to those of a MiniCluster's. */
    @Nullable Double linesPerCpuRatio() {
        return ratio(miniCluster.miniClusterCpuMs, halves.agentCpuMs);
    }

    private static @Nullable Double ratio(@Nullable Long of, @Nullable Long to) {
        return of == null || to == null || to == 0 ? null : (double) of / to;
    }

    /** Lines of the sites for each second of the agents' processor time. */
    @Nullable Double linesPerCpuS() {
        return linesPer(halves.agentCpuMs);
    }

    /** The same of the Kafka producers. */
    @Nullable Double linesPerProducerCpuS() {
        return linesPer(producers.producerCpuMs);
    }

    /** The same of a MiniCluster. */
    @Nullable Double linesPerMiniClusterCpuS() {
        return linesPer(miniCluster.miniClusterCpuMs);
    }

    private @Nullable Double linesPer(@Nullable Long cpuMs) {
        Long lines = outcome.lines;
        return lines == null || cpuMs == null || cpuMs == 0 ? null : 1e3 * lines / cpuMs;
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
        return finished() && Boolean.TRUE.equals(outcome.equal);
    }
}
