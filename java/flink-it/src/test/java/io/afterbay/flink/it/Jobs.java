package io.afterbay.flink.it;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.flink.it.cluster.Rest;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Waiting for the jobs of a cluster, and hurting them. */
record Jobs(StandaloneCluster cluster) {
    private static final Duration TAKEOVER_CALL_LIMIT = Duration.ofSeconds(5);

    /** Waits until the sources have emitted so much since the job was started or restarted. */
    void awaitEmitted(String job, long records) throws Exception {
        Await.until(
                () -> "%d records; %d emitted".formatted(records, cluster.rest().emitted(job)),
                () -> {
                    failIfEnded(job);
                    return cluster.rest().emitted(job) >= records;
                });
    }

    /** Waits for so many more completed checkpoints. */
    void awaitCheckpoints(String job, int more) throws Exception {
        long wanted = checkpoints(job, "completed") + more;
        Await.until(
                () -> "checkpoint %d: %s".formatted(wanted, cluster.rest().checkpoints(job)),
                () -> {
                    failIfEnded(job);
                    return checkpoints(job, "completed") >= wanted;
                });
    }

    /** Waits until the job has been restored so often. */
    void awaitRestores(String job, long restores) throws Exception {
        Await.until(
                () -> "restore %d: %s".formatted(restores, cluster.rest().checkpoints(job)),
                () -> {
                    failIfEnded(job);
                    return checkpoints(job, "restored") >= restores;
                });
    }

    /** How often the job has been restored. */
    long restores(String job) throws Exception {
        return checkpoints(job, "restored");
    }

    /**
     * When the checkpoint began that was completed so many before the last one; of the first one,
     * if there were not so many.
     */
    Instant completedCheckpointBegin(String job, int before) throws Exception {
        List<JsonNode> completed = new ArrayList<>();
        for (JsonNode checkpoint : cluster.rest().checkpoints(job).path("history")) {
            if (checkpoint.path("status").asText().equals("COMPLETED")) {
                completed.add(checkpoint); // the last one first
            }
        }
        if (completed.isEmpty()) {
            throw new AssertionError("none of the last checkpoints was completed: " + job);
        }
        JsonNode wanted = completed.get(Math.min(before, completed.size() - 1));
        return Instant.ofEpochMilli(wanted.path("trigger_timestamp").asLong());
    }

    /** Id of the last completed checkpoint. */
    long lastCheckpoint(String job) throws Exception {
        return checkpointId(job, "completed");
    }

    /** Id of the checkpoint that the job was last restored from. */
    long restoredCheckpoint(String job) throws Exception {
        return checkpointId(job, "restored");
    }

    /**
     * Waits until another JobManager has taken the job over and its tasks run again.
     *
     * @return id of the checkpoint that the job went on from
     */
    long awaitTakeover(String job) throws Exception {
        Await.until(
                () -> "job %s to run on another JobManager".formatted(job),
                () -> hasTakenOver(job));
        return checkpointId(job, "restored");
    }

    /** Until a JobManager leads it answers with errors, or passes calls on to the dead one. */
    private boolean hasTakenOver(String job) throws Exception {
        Rest rest = cluster.rest().within(TAKEOVER_CALL_LIMIT);
        try {
            return rest.status(job).equals("RUNNING")
                    && rest.checkpoints(job).path("counts").path("restored").asLong() >= 1;
        } catch (IOException e) {
            return false;
        }
    }

    private long checkpointId(String job, String kind) throws Exception {
        return cluster.rest().checkpoints(job).path("latest").path(kind).path("id").asLong();
    }

    private long checkpoints(String job, String kind) throws Exception {
        return cluster.rest().checkpoints(job).path("counts").path(kind).asLong();
    }

    private void failIfEnded(String job) throws Exception {
        String status = cluster.rest().status(job);
        if (List.of("FAILED", "FINISHED", "CANCELED").contains(status)) {
            throw new AssertionError(status + ":\n" + cluster.rest().exceptions(job));
        }
    }

    /**
     * kill -9 of a TaskManager that runs tasks of the job. It is started again, as a supervisor
     * would, and finds what it left on disk; returns when its slots are there again.
     */
    void killOneHost(String job) throws Exception {
        String host = cluster.rest().hosts(job).first();
        cluster.killTaskManager(host);
        cluster.startTaskManager(host);
        cluster.awaitSlots();
    }
}
