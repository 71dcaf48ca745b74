package io.afterbay.experiments.queries;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import io.afterbay.bench.Cell;
import io.afterbay.bench.ResultFile;
import io.afterbay.bench.Run;
import io.afterbay.bench.Trial;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One run of a NEXMark query, as fast as possible (closed loop) or at a rate (open loop): of the
 * experiment about latency, and of that which sweeps a parameter of the store. In JSON all fields
 * are those of one object. Figures are as in {@link Run}; those of the other loop are null.
 */
@JsonDeserialize(using = QueryTrial.FromParts.class)
public record QueryTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped ClosedLoop closedLoop,
        @JsonUnwrapped OpenLoop openLoop,
        @JsonUnwrapped Resources resources)
        implements Trial {

    /**
     * What ran.
     *
     * @param cell size of the state to the memory
     * @param ratePercent of the open loop, in percent of the maximum rate; 0: closed loop
     * @param parameter what is swept; null if nothing is
     * @param value of the parameter; null without one
     * @param isDefault whether that is the value which users get
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String backend,
            String query,
            Cell cell,
            int ratePercent,
            @Nullable String parameter,
            @Nullable String value,
            boolean isDefault,
            int pair) {}

    /**
     * How it ended.
     *
     * @param rows identifies what came out, whatever the order; null if that was not reached
     */
    public record Outcome(@Nullable String failure, @Nullable String rows) {
        static final Outcome NONE = new Outcome(null, null);
    }

    /** As fast as possible. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record ClosedLoop(
            @Nullable Double eventsPerS,
            @Nullable Double cpuUsPerEvent,
            @Nullable Double taskCpuUsPerEvent,
            @Nullable Double backgroundCpuUsPerEvent,
            @Nullable Double storeWriteCpuUsPerEvent,
            @Nullable Double storeReadCpuUsPerEvent,
            @Nullable Double writtenMb) {
        static final ClosedLoop NONE = new ClosedLoop(null, null, null, null, null, null, null);
    }

    /**
     * At a rate.
     *
     * @param ratePerS events per second
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record OpenLoop(
            @Nullable Double ratePerS,
            @Nullable Double p50Ms,
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs,
            @Nullable Double longestPauseMs) {
        static final OpenLoop NONE = new OpenLoop(null, null, null, null, null, null);
    }

    /** Of the process, whatever it ran. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Resources(@Nullable Double peakRssMb, @Nullable Double diskMb) {
        static final Resources NONE = new Resources(null, null);
    }

    /** A run without figures, which has not ended. */
    public static QueryTrial none(Setting setting) {
        return new QueryTrial(
                setting, Outcome.NONE, ClosedLoop.NONE, OpenLoop.NONE, Resources.NONE);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<QueryTrial> {
        FromParts() {
            super(QueryTrial.class);
        }

        @Override
        public QueryTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new QueryTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, ClosedLoop.class),
                    ResultFile.part(all, OpenLoop.class),
                    ResultFile.part(all, Resources.class));
        }
    }

    /** The same without figures, failed. */
    public QueryTrial failed(String reason) {
        return new QueryTrial(
                setting, new Outcome(reason, null), ClosedLoop.NONE, OpenLoop.NONE, Resources.NONE);
    }

    /** The same at the end of a closed loop. */
    public QueryTrial with(String rows, ClosedLoop figures, Resources used) {
        return new QueryTrial(setting, new Outcome(null, rows), figures, openLoop, used);
    }

    /** The same at the end of an open loop. */
    public QueryTrial with(String rows, OpenLoop figures, Resources used) {
        return new QueryTrial(setting, new Outcome(null, rows), closedLoop, figures, used);
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

    /** See {@link Outcome}. */
    public @Nullable String rows() {
        return outcome.rows;
    }
}
