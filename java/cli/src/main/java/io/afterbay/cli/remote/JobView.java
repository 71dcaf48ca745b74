package io.afterbay.cli.remote;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * A job on a cluster as its REST interface shows it. The cluster gathers metrics every ten seconds
 * (its option metrics.fetcher.update-interval), so that counts of a running job are as old as that.
 */
public final class JobView {
    /** The prefix that Flink gives the name of every source operator. */
    private static final String SOURCE = "Source: ";

    private static final String SOURCE_METRIC = "Source__";
    private static final String RECORDS_METRIC = ".numRecordsOut";

    private final ClusterRest rest;
    private final String path;
    private long recordsSeen;
    private boolean exact = true;

    /**
     * @param job its id
     */
    public JobView(ClusterRest rest, String job) {
        this.rest = rest;
        this.path = "/jobs/" + job;
    }

    /** RUNNING, RESTARTING, FINISHED, and so on. */
    public String status() throws ClusterException, InterruptedException {
        return rest.get(path).path("state").asText();
    }

    /** How long the job has run, in milliseconds. */
    public long durationMillis() throws ClusterException, InterruptedException {
        return rest.get(path).path("duration").asLong();
    }

    /** Records that have left the sources, as far as the cluster knows. */
    public long sourceRecords() throws ClusterException, InterruptedException {
        long records = 0;
        for (JsonNode vertex : rest.get(path).path("vertices")) {
            if (vertex.path("name").asText().startsWith(SOURCE)) {
                records += recordsOf(vertex);
            }
        }
        recordsSeen = Math.max(recordsSeen, records);
        return recordsSeen;
    }

    /**
     * A source that is alone in its tasks is counted exactly, also after it has ended. The metrics
     * of others are gone with their tasks.
     */
    private long recordsOf(JsonNode vertex) throws ClusterException, InterruptedException {
        if (!vertex.path("name").asText().contains(" -> ")) {
            return vertex.path("metrics").path("write-records").asLong();
        }
        exact = false;
        String metrics = path + "/vertices/" + vertex.path("id").asText() + "/subtasks/metrics";
        List<String> names = new ArrayList<>();
        for (JsonNode metric : rest.get(metrics)) {
            String name = metric.path("id").asText();
            if (name.startsWith(SOURCE_METRIC) && name.endsWith(RECORDS_METRIC)) {
                names.add(URLEncoder.encode(name, StandardCharsets.UTF_8));
            }
        }
        return names.isEmpty() ? 0 : sum(metrics, names);
    }

    /** Whether {@link #sourceRecords} is exact at the end, not only what was seen of it. */
    public boolean isExact() {
        return exact;
    }

    private long sum(String metrics, List<String> names)
            throws ClusterException, InterruptedException {
        long records = 0;
        String query = names.stream().collect(Collectors.joining(",", "?agg=sum&get=", ""));
        for (JsonNode metric : rest.get(metrics + query)) {
            records += (long) metric.path("sum").asDouble();
        }
        return records;
    }

    /** The checkpoints of a job. */
    public record Checkpoints(long completed, long longestMillis, OptionalLong stateBytes) {}

    /** Its checkpoints so far. */
    public Checkpoints checkpoints() throws ClusterException, InterruptedException {
        JsonNode all = rest.get(path + "/checkpoints");
        JsonNode last = all.path("latest").path("completed");
        return new Checkpoints(
                all.path("counts").path("completed").asLong(),
                all.path("summary").path("end_to_end_duration").path("max").asLong(),
                last.has("state_size")
                        ? OptionalLong.of(last.path("state_size").asLong())
                        : OptionalLong.empty());
    }

    /**
     * A checkpoint that is complete; times are in milliseconds since the epoch.
     *
     * @param triggerMillis when it began
     * @param endMillis when its last task had acknowledged
     */
    public record Checkpoint(long triggerMillis, long endMillis, long stateBytes) {}

    /** The newest one that is complete, if there is any. */
    public Optional<Checkpoint> lastCheckpoint() throws ClusterException, InterruptedException {
        JsonNode last = rest.get(path + "/checkpoints").path("latest").path("completed");
        return last.has("trigger_timestamp")
                ? Optional.of(
                        new Checkpoint(
                                last.path("trigger_timestamp").asLong(),
                                last.path("latest_ack_timestamp").asLong(),
                                last.path("state_size").asLong()))
                : Optional.empty();
    }

    /**
     * When the first of the present tasks of a stage was deployed, in milliseconds since the epoch.
     *
     * @param operator whose name the name of the stage has
     */
    public long deployedMillis(String operator) throws ClusterException, InterruptedException {
        long deployedMillis = Long.MAX_VALUE;
        for (JsonNode vertex : rest.get(path).path("vertices")) {
            if (vertex.path("name").asText().contains(operator)) {
                String tasks = path + "/vertices/" + vertex.path("id").asText();
                for (JsonNode task : rest.get(tasks).path("subtasks")) {
                    deployedMillis = Math.min(deployedMillis, task.path("start-time").asLong());
                }
            }
        }
        return deployedMillis;
    }

    /** First lines of the failures of its tasks, oldest first. */
    public List<String> failures() throws ClusterException, InterruptedException {
        List<String> failures = new ArrayList<>();
        JsonNode history = rest.get(path + "/exceptions").path("exceptionHistory");
        for (JsonNode entry : history.path("entries")) {
            failures.add(0, lastCause(entry.path("stacktrace").asText()));
        }
        return failures;
    }

    static String lastCause(String stackTrace) {
        String last = "";
        for (String line : stackTrace.lines().toList()) {
            if (last.isEmpty() || line.startsWith("Caused by: ")) {
                last = line.replace("Caused by: ", "");
            }
        }
        return last;
    }
}
