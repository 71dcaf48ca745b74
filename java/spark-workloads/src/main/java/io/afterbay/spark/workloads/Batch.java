package io.afterbay.spark.workloads;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.streaming.SourceProgress;
import org.apache.spark.sql.streaming.StateOperatorProgress;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.jspecify.annotations.Nullable;

/**
 * A micro-batch that had records, as Spark reports it. It begins when it is known which records are
 * in it: until then, a deadline may wait for more of them.
 *
 * @param id counts from 0, those without records, too
 * @param first number of its first record
 * @param end number after its last
 * @param durations in ms, by the name of the part
 * @param states in ms, of all tasks together, by the name of the metric
 */
record Batch(
        long id,
        long first,
        long end,
        double beginMicros,
        double endMicros,
        Map<String, Long> durations,
        Map<String, Long> states) {
    private static final double MICROS_PER_MS = 1e3;

    /** All of the batch. */
    private static final String WHOLE = "triggerExecution";

    /** Which records are in it. */
    private static final String CHOICE = "latestOffset";

    static final String COMMIT = "commitTimeMs";

    static Optional<Batch> of(StreamingQueryProgress progress) {
        SourceProgress source = progress.sources()[0];
        long first = number(source.startOffset());
        long end = number(source.endOffset());
        if (end <= first) {
            return Optional.empty();
        }
        Map<String, Long> durations = progress.durationMs();
        double trigger =
                ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(progress.timestamp()));
        return Optional.of(
                new Batch(
                        progress.batchId(),
                        first,
                        end,
                        trigger + durations.getOrDefault(CHOICE, 0L) * MICROS_PER_MS,
                        trigger + durations.getOrDefault(WHOLE, 0L) * MICROS_PER_MS,
                        durations,
                        states(progress)));
    }

    private static long number(@Nullable String offset) {
        return offset == null ? 0 : Long.parseLong(offset);
    }

    /** Of all operators together. */
    private static Map<String, Long> states(StreamingQueryProgress progress) {
        Map<String, Long> sums = new HashMap<>();
        for (StateOperatorProgress operator : progress.stateOperators()) {
            sums.merge(COMMIT, operator.commitTimeMs(), Long::sum);
            operator.customMetrics().forEach((name, value) -> sums.merge(name, value, Long::sum));
        }
        return sums;
    }

    double millis() {
        return (endMicros - beginMicros) / MICROS_PER_MS;
    }

    /** From when its oldest record was due until its end. */
    double delayMillis(Pace pace) {
        return (endMicros - pace.dueMicros(first)) / MICROS_PER_MS;
    }
}
