package io.afterbay.cli.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A job on a cluster that is looked at, ended or stopped from outside. Thread safe. */
public final class ClusterJob {
    private static final Set<String> ENDED = Set.of("FINISHED", "FAILED", "CANCELED");

    /** Of tasks. */
    private static final Set<String> AT_WORK = Set.of("RUNNING", "FINISHED");

    private final ClusterRest rest;
    private final String id;

    /** What has become of a savepoint: at most one of both is there. */
    public record Savepoint(@Nullable String location, @Nullable String problem) {
        public boolean isPending() {
            return location == null && problem == null;
        }
    }

    /**
     * @param id 32 hexadecimal digits
     */
    public ClusterJob(ClusterRest rest, String id) {
        this.rest = rest;
        this.id = id;
    }

    public String id() {
        return id;
    }

    private String path() {
        return "/jobs/" + id;
    }

    /** All that the cluster shows of it; empty if it knows no such job. */
    public Optional<JsonNode> details() throws ClusterException, InterruptedException {
        return rest.find(path());
    }

    /** RUNNING, RESTARTING, FINISHED, and so on; empty if the cluster knows no such job. */
    public Optional<String> state() throws ClusterException, InterruptedException {
        return details().map(job -> job.path("state").asText());
    }

    /** Whether a job in that state does nothing any more. */
    public static boolean isEnded(String state) {
        return ENDED.contains(state);
    }

    /** Whether it runs, and all of its tasks do, or have done what they had to do. */
    public boolean isAtWork() throws ClusterException, InterruptedException {
        return isAtWork(details().orElse(rest.newObject()));
    }

    static boolean isAtWork(JsonNode job) {
        if (!job.path("state").asText().equals("RUNNING")) {
            return false;
        }
        for (JsonNode vertex : job.path("vertices")) {
            if (!AT_WORK.contains(vertex.path("status").asText())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Asks the cluster to cancel it.
     *
     * @return whether the cluster was told; one that has ended meanwhile cannot be cancelled
     */
    public boolean cancel() throws InterruptedException {
        try {
            return rest.ask("PATCH", path() + "?mode=cancel", rest.newObject()).isPresent();
        } catch (ClusterException e) {
            return false; // who waits for its end sees whether the cluster answers
        }
    }

    /**
     * Ends it when it has written a savepoint. Asked again with the same trigger, it does nothing
     * more.
     *
     * @param trigger 32 hexadecimal digits that name this savepoint
     */
    public void stop(String directory, String trigger)
            throws ClusterException, InterruptedException {
        ObjectNode content = rest.newObject();
        content.put("targetDirectory", directory);
        content.put("drain", false);
        content.put("triggerId", trigger);
        if (rest.ask("POST", path() + "/stop", content).isEmpty()) {
            throw new ClusterException("the cluster knows no job " + id + " to stop");
        }
    }

    /** Empty if the cluster does not know the trigger, or not any more. */
    public Optional<Savepoint> savepoint(String trigger)
            throws ClusterException, InterruptedException {
        return rest.find(path() + "/savepoints/" + trigger)
                .map(
                        answer -> {
                            JsonNode operation = answer.path("operation");
                            return new Savepoint(
                                    operation.path("location").textValue(),
                                    problem(operation.path("failure-cause")));
                        });
    }

    private static @Nullable String problem(JsonNode failure) {
        if (failure.isMissingNode() || failure.isNull()) {
            return null;
        }
        return JobView.lastCause(failure.path("stack-trace").asText());
    }

    /** The newest savepoint that it has written. */
    public Optional<String> newestSavepoint() throws ClusterException, InterruptedException {
        return place(newest().path("savepoint"));
    }

    /** The newest checkpoint that it has written. */
    public Optional<String> newestCheckpoint() throws ClusterException, InterruptedException {
        return place(newest().path("completed"));
    }

    /** The newest checkpoint, if that is newer than the newest savepoint. */
    public Optional<String> checkpointSinceSavepoint()
            throws ClusterException, InterruptedException {
        JsonNode newest = newest();
        JsonNode checkpoint = newest.path("completed");
        long savepoint = newest.path("savepoint").path("id").asLong();
        return place(checkpoint).filter(place -> checkpoint.path("id").asLong() > savepoint);
    }

    private JsonNode newest() throws ClusterException, InterruptedException {
        return rest.find(path() + "/checkpoints").orElse(rest.newObject()).path("latest");
    }

    private static Optional<String> place(JsonNode snapshot) {
        return Optional.ofNullable(snapshot.path("external_path").textValue());
    }

    /** How long a checkpoint of it may take, or a savepoint; 0 if the cluster does not know. */
    public Duration checkpointTimeout() throws ClusterException, InterruptedException {
        return Duration.ofMillis(
                rest.find(path() + "/checkpoints/config")
                        .orElse(rest.newObject())
                        .path("timeout")
                        .asLong());
    }
}
