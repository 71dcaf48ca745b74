package io.afterbay.cli.replay.live;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterRest;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleBinaryOperator;
import org.apache.flink.util.TimeUtils;
import org.jspecify.annotations.Nullable;

/**
 * How a live job is, from the metrics that its cluster shows: latencies of Flink's markers (if
 * metrics.latency.interval is set), pendingRecords or else currentEmitEventTimeLag of its sources,
 * and what leaves them. A cluster gathers metrics every {@link #interval}, so asking more often
 * tells nothing new. For one thread.
 */
public final class LiveMetrics {
    private static final Duration USUAL_INTERVAL = Duration.ofSeconds(10);
    private static final Duration INTERVAL_MIN = Duration.ofSeconds(1);

    /** What a histogram of latencies is made of, if nothing is known of it. */
    private static final Duration USUAL_MEMORY = Duration.ofSeconds(30);

    private static final Duration MEMORY_MAX = Duration.ofMinutes(5);
    private static final int USUAL_HISTORY = 128;

    private static final String LATENCY = "latency.";
    private static final String P99 = ".latency_p99";
    private static final String SOURCE = "Source__";
    private static final String PENDING = ".pendingRecords";
    private static final String TIME_LAG = ".currentEmitEventTimeLag";
    private static final String RATE = ".numRecordsOutPerSecond";

    /** Records that are older than a day are those of a past, and tell nothing of a lag. */
    private static final double LAG_MAX_MS = Duration.ofDays(1).toMillis();

    /** Names are long, and an address is not to be longer than 8 KiB. */
    private static final int NAMES_AT_ONCE = 30;

    private final ClusterRest rest;
    private final ClusterJob job;
    private final Duration interval;
    private final Duration memory;

    private LiveMetrics(ClusterRest rest, ClusterJob job, Duration interval, Duration memory) {
        this.rest = rest;
        this.job = job;
        this.interval = interval;
        this.memory = memory;
    }

    static LiveMetrics of(ClusterRest rest, ClusterJob job)
            throws ClusterException, InterruptedException {
        Duration interval =
                duration(rest, "metrics.fetcher.update-interval").orElse(USUAL_INTERVAL);
        Duration memory =
                duration(rest, "metrics.latency.interval")
                        .filter(between -> !between.isZero())
                        .map(between -> between.multipliedBy(USUAL_HISTORY))
                        .orElse(USUAL_MEMORY);
        return new LiveMetrics(
                rest,
                job,
                interval.compareTo(INTERVAL_MIN) < 0 ? INTERVAL_MIN : interval,
                memory.compareTo(MEMORY_MAX) > 0 ? MEMORY_MAX : memory);
    }

    private static Optional<Duration> duration(ClusterRest rest, String key)
            throws ClusterException, InterruptedException {
        return rest.option(key).map(TimeUtils::parseDuration);
    }

    /** How often the cluster has new figures. */
    public Duration interval() {
        return interval;
    }

    /** After how many samples nothing is in them any more of the time before. */
    public int samplesOfMemory() {
        return Math.toIntExact(Math.max(3, memory.dividedBy(interval) + 1));
    }

    /**
     * How it is now; empty if it does not run at the moment.
     *
     * @throws ClusterException if the cluster does not answer
     */
    public Optional<LiveSample> sample() throws ClusterException, InterruptedException {
        JsonNode details = job.details().orElse(null);
        if (details == null || !details.path("state").asText().equals("RUNNING")) {
            return Optional.empty();
        }
        Double p99Ms = null;
        Double pending = null;
        Double lagMs = null;
        Double perSecond = null;
        for (JsonNode vertex : details.path("vertices")) {
            String metrics =
                    "/jobs/%s/vertices/%s/subtasks/metrics"
                            .formatted(job.id(), vertex.path("id").asText());
            List<String> names = names(metrics);
            p99Ms = max(p99Ms, total(metrics, of(names, LATENCY, P99), "max", Math::max));
            pending = sum(pending, total(metrics, of(names, SOURCE, PENDING), "sum", Double::sum));
            lagMs = max(lagMs, total(metrics, of(names, SOURCE, TIME_LAG), "max", Math::max));
            perSecond = sum(perSecond, total(metrics, of(names, SOURCE, RATE), "sum", Double::sum));
        }
        return Optional.of(
                new LiveSample(
                        p99Ms == null ? p99MsOfJob() : p99Ms,
                        pending,
                        pending == null && lagMs != null && lagMs < LAG_MAX_MS ? lagMs : null,
                        perSecond));
    }

    /** Other versions of Flink have latencies not with tasks, but with the job. */
    private @Nullable Double p99MsOfJob() throws ClusterException, InterruptedException {
        String metrics = "/jobs/" + job.id() + "/metrics";
        return total(metrics, of(names(metrics), LATENCY, P99), null, Math::max);
    }

    private List<String> names(String metrics) throws ClusterException, InterruptedException {
        List<String> names = new ArrayList<>();
        rest.find(metrics)
                .ifPresent(all -> all.forEach(metric -> names.add(metric.path("id").asText())));
        return names;
    }

    private static List<String> of(List<String> names, String beginning, String end) {
        return names.stream()
                .filter(name -> name.startsWith(beginning) && name.endsWith(end))
                .toList();
    }

    /**
     * @param aggregate over subtasks; null if the metric is that of one
     * @return null if none has a value
     */
    private @Nullable Double total(
            String metrics,
            List<String> names,
            @Nullable String aggregate,
            DoubleBinaryOperator add)
            throws ClusterException, InterruptedException {
        Double total = null;
        for (int from = 0; from < names.size(); from += NAMES_AT_ONCE) {
            List<String> some = names.subList(from, Math.min(names.size(), from + NAMES_AT_ONCE));
            for (JsonNode metric : values(metrics, some, aggregate)) {
                double value = metric.path(aggregate == null ? "value" : aggregate).asDouble(-1);
                // There is none before the first record, or it is NaN.
                if (value >= 0) {
                    total = total == null ? value : add.applyAsDouble(total, value);
                }
            }
        }
        return total;
    }

    private List<JsonNode> values(String metrics, List<String> names, @Nullable String aggregate)
            throws ClusterException, InterruptedException {
        List<String> encoded =
                names.stream()
                        .map(name -> URLEncoder.encode(name, StandardCharsets.UTF_8))
                        .toList();
        String query =
                "?get=%s%s"
                        .formatted(
                                String.join(",", encoded),
                                aggregate == null ? "" : "&agg=" + aggregate);
        List<JsonNode> values = new ArrayList<>();
        rest.find(metrics + query).ifPresent(all -> all.forEach(values::add));
        return values;
    }

    private static @Nullable Double sum(@Nullable Double one, @Nullable Double other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one + other;
    }

    private static @Nullable Double max(@Nullable Double one, @Nullable Double other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return Math.max(one, other);
    }
}
