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
        @JsonUnwrapped Whole whole)
        implements Trial {

    /**
     * What ran.
     *
     * @param variant live, or the control
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
                    ResultFile.part(all, Whole.class));
        }
    }

    /** A run without figures, which has not ended. */
    static EdgeTrial none(Setting setting) {
        return new EdgeTrial(setting, Outcome.NONE, Halves.NONE, Whole.NONE);
    }

    /** The same without figures, failed. */
    EdgeTrial failed(String reason) {
        return new EdgeTrial(
                setting, new Outcome(reason, null, null, null, null), Halves.NONE, Whole.NONE);
    }

    /** The same at its end. */
    EdgeTrial with(Outcome ended, Halves inHalves, Whole asWhole) {
        return new EdgeTrial(setting, ended, inHalves, asWhole);
    }

    /** Bytes over the links, to those of the whole job. */
    @Nullable Double bytesRatio() {
        Long of = halves.halvesBytes;
        Long to = whole.wholeBytes;
        return of == null || to == null || to == 0 ? null : (double) of / to;
    }

    /** Lines of the sites for each second of the agents' processor time. */
    @Nullable Double linesPerCpuS() {
        Long lines = outcome.lines;
        Long cpuMs = halves.agentCpuMs;
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
