package io.afterbay.experiments.blob;

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
 * One run of a load on a blob store, of a limit that it is measured against, or of the index alone.
 * In JSON all fields are those of one object. Figures that do not belong to a run are null.
 */
@JsonDeserialize(using = BlobTrial.FromParts.class)
public record BlobTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Rates rates,
        @JsonUnwrapped Cost cost,
        @JsonUnwrapped Index index)
        implements Trial {

    /** The operation of a run that measures the index. */
    public static final String INDEX = "index";

    /**
     * What ran.
     *
     * @param variant the server and its protocol, or the limit
     * @param operation {@code put}, {@code get}, or {@link #INDEX}
     * @param sizeBytes of an object
     * @param clients connections, each with one request at a time
     * @param cache {@code cached}: the objects are in the page cache; {@code cold}: they were
     *     dropped from it, and each is read once
     * @param objects that are there before the gets, or in the index; 0 for puts
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String variant,
            String operation,
            long sizeBytes,
            int clients,
            String cache,
            long objects,
            int pair) {
        @JsonIgnore
        public boolean isIndex() {
            return operation.equals(INDEX);
        }
    }

    /**
     * How it ended.
     *
     * @param verified objects of which every byte was compared
     * @param wrong objects that were not what was put
     * @param errors requests that failed
     * @param cachedPercent of the server's files, what was still in the page cache when they had
     *     been dropped
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure,
            @Nullable Long verified,
            @Nullable Long wrong,
            @Nullable Long errors,
            @Nullable Double cachedPercent) {
        static final Outcome NONE = new Outcome(null, null, null, null, null);
    }

    /**
     * Of the counted time; latencies are those of requests that succeeded.
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
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs) {
        public static final Rates NONE = new Rates(null, null, null, null, null, null, null, null);
    }

    /**
     * Of the counted time. A limit has no server; its cost is the client's.
     *
     * @param serverCpuSecondsPerGb processor seconds for a thousand million bytes
     * @param rssMib the server's largest resident set, from the start of the process
     * @param readBytesPerRequest what the server caused to be read from disks
     * @param writtenBytesPerRequest what it caused to be written to disks
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Cost(
            @Nullable Double serverCpuSecondsPerGb,
            @Nullable Double serverCpuUsPerRequest,
            @Nullable Double clientCpuSecondsPerGb,
            @Nullable Double rssMib,
            @Nullable Double readBytesPerRequest,
            @Nullable Double writtenBytesPerRequest) {
        public static final Cost NONE = new Cost(null, null, null, null, null, null);
    }

    /**
     * What the index of one partition takes. Reads are per get.
     *
     * @param indexMemoryBytesPerBlob as the store counts them
     * @param indexRssBytesPerBlob what the process grew by when it opened the partition
     * @param readsOfIndex wherever the bytes were
     * @param readsOfLog the same
     * @param diskReadsLogsCold reads that waited for the disk, with indexes in the page cache
     * @param diskReadsAllCold the same with nothing in it
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Index(
            @Nullable Double indexMemoryBytesPerBlob,
            @Nullable Double indexRssBytesPerBlob,
            @Nullable Double readsOfIndex,
            @Nullable Double readsOfLog,
            @Nullable Double diskReadsLogsCold,
            @Nullable Double diskReadsAllCold,
            @Nullable Double openS,
            @Nullable Double buildS) {
        public static final Index NONE = new Index(null, null, null, null, null, null, null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<BlobTrial> {
        FromParts() {
            super(BlobTrial.class);
        }

        @Override
        public BlobTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new BlobTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Rates.class),
                    ResultFile.part(all, Cost.class),
                    ResultFile.part(all, Index.class));
        }
    }

    /** A run without figures, which has not ended. */
    public static BlobTrial none(Setting setting) {
        return new BlobTrial(setting, Outcome.NONE, Rates.NONE, Cost.NONE, Index.NONE);
    }

    /** The same without figures, failed. */
    public BlobTrial failed(String reason) {
        return new BlobTrial(
                setting,
                new Outcome(reason, null, null, null, null),
                Rates.NONE,
                Cost.NONE,
                Index.NONE);
    }

    /** The same at the end of a load. */
    public BlobTrial with(Outcome ended, Rates found, Cost used) {
        return new BlobTrial(setting, ended, found, used, Index.NONE);
    }

    /** The same at the end of a run of the index. */
    public BlobTrial with(Outcome ended, Index found) {
        return new BlobTrial(setting, ended, Rates.NONE, Cost.NONE, found);
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
