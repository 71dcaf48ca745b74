package io.afterbay.cli.replay.live;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** A live job, and whether a replay is of the same one. For one thread. */
public final class LiveJob {
    private static final String RUNNING = "RUNNING";

    private final ClusterAddress cluster;
    private final ClusterRest rest;
    private final ClusterJob job;

    /**
     * @param address with its cluster
     */
    public LiveJob(LiveAddress address) {
        this.cluster = Objects.requireNonNull(address.cluster());
        this.rest = new ClusterRest(cluster);
        this.job = new ClusterJob(rest, address.jobId());
    }

    public ClusterJob job() {
        return job;
    }

    public LiveMetrics metrics() throws CommandFailure, InterruptedException {
        try {
            return LiveMetrics.of(rest, job);
        } catch (ClusterException e) {
            throw failure(e);
        }
    }

    private static CommandFailure failure(ClusterException e) {
        return new CommandFailure("--live: " + CommandFailure.reason(e), e);
    }

    /**
     * Checks that it is there, and runs.
     *
     * @throws CommandFailure that names those that do
     */
    public void requireRunning() throws CommandFailure, InterruptedException {
        try {
            String state = job.state().orElse(null);
            if (state == null) {
                throw new CommandFailure(
                        "--live: the cluster at %s has no job %s; %s"
                                .formatted(cluster, job.id(), running(rows())));
            }
            if (!state.equals(RUNNING)) {
                throw new CommandFailure(
                        "--live: job %s at %s does not run, it is %s; %s"
                                .formatted(job.id(), cluster, state, running(rows())));
            }
        } catch (ClusterException e) {
            throw failure(e);
        }
    }

    private record Row(String id, String name) {}

    private List<Row> rows() throws ClusterException, InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (JsonNode one : rest.get("/jobs/overview").path("jobs")) {
            if (one.path("state").asText().equals(RUNNING)) {
                rows.add(new Row(one.path("jid").asText(), one.path("name").asText()));
            }
        }
        return rows;
    }

    private static String running(List<Row> rows) {
        return rows.isEmpty()
                ? "no job runs there: start the live one first"
                : "these run there: "
                        + String.join(
                                ", ",
                                rows.stream()
                                        .map(row -> row.id() + " (" + row.name() + ")")
                                        .toList());
    }

    /**
     * Checks that a program has built the graph of the live job.
     *
     * @param replayed before anything in it was changed
     * @param hasOtherSinks whether its sinks may have other names
     * @throws CommandFailure that says in what they differ, and which jobs are of that graph
     */
    public void requireGraph(StreamGraph replayed, boolean hasOtherSinks)
            throws CommandFailure, InterruptedException {
        OperatorNames names = OperatorNames.of(replayed, hasOtherSinks);
        try {
            JsonNode known =
                    job.details().orElseThrow(() -> new CommandFailure("--live: it has ended"));
            String difference = names.difference(vertices(known)).orElse(null);
            if (difference != null) {
                throw new CommandFailure(
                        "--live: job %s at %s (%s) is of another graph than the job to be replayed, '%s': %s; %s"
                                .formatted(
                                        job.id(),
                                        cluster,
                                        known.path("name").asText(),
                                        replayed.getName(),
                                        difference,
                                        fitting(names)));
            }
        } catch (ClusterException e) {
            throw failure(e);
        }
    }

    private String fitting(OperatorNames names) throws ClusterException, InterruptedException {
        List<Row> fitting = new ArrayList<>();
        for (Row row : rows()) {
            JsonNode details = new ClusterJob(rest, row.id()).details().orElse(null);
            if (details != null && names.difference(vertices(details)).isEmpty()) {
                fitting.add(row);
            }
        }
        return fitting.isEmpty()
                ? "none that runs there is of that graph: name the job's program with the arguments of the live one"
                : "name one that is: "
                        + String.join(
                                ", ",
                                fitting.stream()
                                        .map(row -> row.id() + " (" + row.name() + ")")
                                        .toList());
    }

    private static List<String> vertices(JsonNode job) {
        List<String> names = new ArrayList<>();
        job.path("vertices").forEach(vertex -> names.add(vertex.path("name").asText()));
        return names;
    }
}
