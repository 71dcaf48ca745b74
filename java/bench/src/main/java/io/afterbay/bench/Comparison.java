package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that {@code ./afterbay compare} found out.
 *
 * @param target the job with its arguments, as the user would type it
 * @param command the whole command, to repeat it
 * @param environment versions, machine, memory split, load average before and after, date; in the
 *     order in which to show it. Under {@link #LIMIT}, if state is larger than memory: what keeps
 *     it from staying in the page cache
 * @param latencySource {@code results} (stamp to result, open loop) or {@code markers} (Flink's
 *     latency markers)
 * @param ratePerS events per second of the open loop; null where there was none
 * @param runs in the order in which they ran
 * @param ratios {@code "afterbay/rocksdb"} to figure (the JSON name, such as {@code events_per_s})
 *     to ratio
 * @param outputsEqual whether all finished runs gave the same multiset of rows; null where that
 *     cannot be known
 * @param timelines of each backend, the run in the middle by its p99.9
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record Comparison(
        String target,
        String command,
        Map<String, String> environment,
        String latencySource,
        @Nullable Double ratePerS,
        List<Run> runs,
        Map<String, Map<String, Ratio>> ratios,
        @Nullable Boolean outputsEqual,
        List<Timeline> timelines) {

    /** Key of the environment: {@code page-cached}, or the limit, such as {@code cgroup 2 GB}. */
    public static final String LIMIT = "limit";

    /** Key of the environment: present if the comparison only proves that it runs. */
    public static final String QUICK = "quick";

    /** Whether it was too short for figures that count: for the JIT alone, it is. */
    boolean isQuick() {
        return environment.containsKey(QUICK);
    }

    /** Whether latencies are those of Flink's latency markers. */
    boolean hasMarkerLatency() {
        return latencySource.equals("markers");
    }

    /** Of our backend to another one, or null where no pair has it. */
    @Nullable Ratio ratio(String other, Figure figure) {
        return ratios.getOrDefault(Ratios.ours(runs) + "/" + other, Map.of())
                .get(figure.jsonName());
    }
}
