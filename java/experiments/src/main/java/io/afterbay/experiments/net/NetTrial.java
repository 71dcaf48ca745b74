package io.afterbay.experiments.net;

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
 * One run of a server and its clients on one way. In JSON all fields are those of one object.
 * Figures that a run does not have are null.
 */
@JsonDeserialize(using = NetTrial.FromParts.class)
public record NetTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Rates rates,
        @JsonUnwrapped Cost cost)
        implements Trial {

    /**
     * What ran.
     *
     * @param variant the way
     * @param work what connections are used for
     * @param sizeBytes of a message or a block
     * @param connections at once
     * @param spin {@code auto} or {@code off}, as in {@code net run}; of meaning for memory only
     * @param busyThreads that do nothing but work, beside it
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String variant,
            String work,
            long sizeBytes,
            int connections,
            String spin,
            int busyThreads,
            int pair) {}

    /**
     * How it ended.
     *
     * @param wrong messages and blocks that were not what was sent, and streams of another length;
     *     of redis, values that were not what was written when they were read back
     * @param networkBytesPerByte what the interfaces of the client's namespace carried from the
     *     begin of the counted time until all had arrived, to what the programs sent in that time
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure, @Nullable Long wrong, @Nullable Double networkBytesPerByte) {
        static final Outcome NONE = new Outcome(null, null, null);
    }

    /**
     * Of the counted time.
     *
     * @param operations messages there and back, blocks, connections or commands
     * @param mbPerS millions of bytes, one way; of redis, commands and answers
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Rates(
            @Nullable Long operations,
            @Nullable Double seconds,
            @Nullable Double operationsPerS,
            @Nullable Double mbPerS,
            @Nullable Double meanUs,
            @Nullable Double p50Us,
            @Nullable Double p99Us,
            @Nullable Double p999Us,
            @Nullable Double maxUs) {
        static final Rates NONE = new Rates(null, null, null, null, null, null, null, null, null);
    }

    /** Processor time of the counted time, of the client's process and the server's together. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Cost(
            @Nullable Double cpuSecondsPerGb,
            @Nullable Double cpuUsPerOperation,
            @Nullable Double serverCpuUsPerOperation) {
        static final Cost NONE = new Cost(null, null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<NetTrial> {
        FromParts() {
            super(NetTrial.class);
        }

        @Override
        public NetTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new NetTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Rates.class),
                    ResultFile.part(all, Cost.class));
        }
    }

    /** A run without figures, which has not ended. */
    static NetTrial none(Setting setting) {
        return new NetTrial(setting, Outcome.NONE, Rates.NONE, Cost.NONE);
    }

    /** The same without figures, failed. */
    NetTrial failed(String reason) {
        return new NetTrial(setting, new Outcome(reason, null, null), Rates.NONE, Cost.NONE);
    }

    /** The same at its end. */
    NetTrial with(Outcome ended, Rates found, Cost used) {
        return new NetTrial(setting, ended, found, used);
    }

    /**
     * Whether anything that was read was compared: in the first runs of redis, which did not count
     * bytes either, nothing was.
     */
    boolean isCompared() {
        boolean isRedis = setting.work.equals(NetWork.REDIS.label());
        return !isRedis || outcome.networkBytesPerByte != null;
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
        return finished() && (outcome.wrong == null || outcome.wrong == 0);
    }
}
