package io.afterbay.experiments.storm;

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
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of a topology on Storm, whose tuples come by a schedule (open loop). In JSON all fields
 * are those of one object. Figures that a run does not have are null.
 */
@JsonDeserialize(using = StormTrial.FromParts.class)
public record StormTrial(
        @JsonUnwrapped Setting setting,
        @JsonUnwrapped Outcome outcome,
        @JsonUnwrapped Latency latency,
        @JsonUnwrapped Shares shares,
        @JsonUnwrapped Repeats repeats,
        @JsonUnwrapped Waits waits)
        implements Trial {

    /**
     * What ran.
     *
     * @param variant who chooses the task of a tuple, and how often it is sent
     * @param cell what there is to cure
     * @param stages bolts in a row
     * @param tasks of each bolt
     * @param utilisationPercent of tasks that are not slow, by an even share of the tuples
     * @param service how the times are distributed that a task takes
     * @param slowdown how many times as long the slow task takes; 1 without one
     * @param busyPercent share of the time of the machine's processors that was used up beside
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Setting(
            String variant,
            String cell,
            int stages,
            int tasks,
            int utilisationPercent,
            String service,
            double slowdown,
            int busyPercent,
            int pair) {
        /** Whether one of the tasks is slow for a while. */
        @JsonIgnore
        public boolean hasSlowTask() {
            return slowdown > 1;
        }
    }

    /**
     * How it ended.
     *
     * @param storm its version
     * @param tuples that were sent
     * @param acked different ones
     * @param ackedTwice acks of tuples that had been acked
     * @param failed tuples that Storm gave up
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Outcome(
            @Nullable String failure,
            @Nullable String storm,
            @Nullable Long tuples,
            @Nullable Long acked,
            @Nullable Long ackedTwice,
            @Nullable Long failed) {
        static final Outcome NONE = new Outcome(null, null, null, null, null, null);

        /** Whether each tuple was acked once. */
        @JsonIgnore
        public boolean isRight() {
            return tuples != null
                    && tuples.equals(acked)
                    && Long.valueOf(0).equals(ackedTwice)
                    && Long.valueOf(0).equals(failed);
        }
    }

    /**
     * Of the counted tuples, from when each was due to its ack; with a slow task, of all that were
     * due while it was slow.
     *
     * @param perS counted tuples in a second, from when the first was due to the ack of the last
     * @param cpuUsPerTuple processor time of the process with Storm
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Latency(
            @Nullable Double p50Ms,
            @Nullable Double p90Ms,
            @Nullable Double p95Ms,
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs,
            @Nullable Double perS,
            @Nullable Double cpuUsPerTuple) {
        public static final Latency NONE =
                new Latency(null, null, null, null, null, null, null, null);
    }

    /**
     * Who did what.
     *
     * @param movedPercent counted tuples that another task did than the one that they were sent to;
     *     null where tuples may be sent twice
     * @param firstTaskPercent counted tuples that the first task of the first bolt did, which is
     *     the slow one if there is one
     * @param shiftS seconds from when it became slow until nine tenths of what it lost were lost;
     *     null if it lost less than a quarter
     * @param backS seconds from its recovery until nine tenths of that were back; null if they were
     *     not, or nothing was lost
     * @param perTaskPerS counted tuples of each task in a second, by bolt
     * @param firstTaskPercentBySecond the share of the first task, by the second in which tuples
     *     were due, from the start
     * @param slowFromS when it became slow, from the start
     * @param slowUntilS when it recovered
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Shares(
            @Nullable Double movedPercent,
            @Nullable Double firstTaskPercent,
            @Nullable Double shiftS,
            @Nullable Double backS,
            @Nullable List<List<Double>> perTaskPerS,
            @Nullable List<Double> firstTaskPercentBySecond,
            @Nullable Double slowFromS,
            @Nullable Double slowUntilS) {
        public static final Shares NONE =
                new Shares(null, null, null, null, null, null, null, null);
    }

    /**
     * What was sent twice, of all tuples.
     *
     * @param sentTwice tuples
     * @param secondWasFirst of these, those whose second instance was done first
     * @param extraWorkPercent what tasks did more than if each tuple had been sent once
     * @param budgetClosedPercent share of the time in which nothing was to be replayed; null
     *     without replays
     * @param queuesPercent utilisation of the busiest bolt: the mean while the budget was closed,
     *     or if it never was, of all the time; null as above
     * @param processorsPercent the same of the machine's processors
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Repeats(
            @Nullable Long sentTwice,
            @Nullable Long secondWasFirst,
            @Nullable Double extraWorkPercent,
            @Nullable Double budgetClosedPercent,
            @Nullable Double queuesPercent,
            @Nullable Double processorsPercent) {
        public static final Repeats NONE = new Repeats(null, null, null, null, null, null);
    }

    /**
     * Mean times of the counted tuples. All are null in lines from before they were recorded, and
     * with replays: a second instance does not say when it was sent.
     *
     * @param meanHeldMs from when a tuple was due until the source sent it; waits do not have it
     * @param meanWaitMs from when the source or a bolt sent it until a task of the next bolt began
     *     it, of all bolts
     * @param meanServiceMs from then until the task was free again
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Waits(
            @Nullable Double meanHeldMs,
            @Nullable Double meanWaitMs,
            @Nullable Double meanServiceMs) {
        public static final Waits NONE = new Waits(null, null, null);
    }

    /** Each part takes its fields of the object. */
    static final class FromParts extends StdDeserializer<StormTrial> {
        FromParts() {
            super(StormTrial.class);
        }

        @Override
        public StormTrial deserialize(JsonParser json, DeserializationContext context)
                throws IOException {
            JsonNode all = json.readValueAsTree();
            return new StormTrial(
                    ResultFile.part(all, Setting.class),
                    ResultFile.part(all, Outcome.class),
                    ResultFile.part(all, Latency.class),
                    ResultFile.part(all, Shares.class),
                    ResultFile.part(all, Repeats.class),
                    ResultFile.part(all, Waits.class));
        }
    }

    /** A run without figures, which has not ended. */
    public static StormTrial none(Setting setting) {
        return new StormTrial(
                setting, Outcome.NONE, Latency.NONE, Shares.NONE, Repeats.NONE, Waits.NONE);
    }

    /** The same without figures, failed. */
    public StormTrial failed(String reason) {
        return new StormTrial(
                setting,
                new Outcome(reason, outcome.storm, null, null, null, null),
                Latency.NONE,
                Shares.NONE,
                Repeats.NONE,
                Waits.NONE);
    }

    /** The same at its end. */
    public StormTrial with(Outcome ended, Latency found, Shares seen, Repeats twice) {
        return new StormTrial(setting, ended, found, seen, twice, waits);
    }

    /** The same with these. */
    public StormTrial with(Waits times) {
        return new StormTrial(setting, outcome, latency, shares, repeats, times);
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
        return finished() && outcome.isRight();
    }
}
