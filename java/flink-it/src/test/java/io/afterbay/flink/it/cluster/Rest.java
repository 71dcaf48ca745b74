package io.afterbay.flink.it.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.testing.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** The calls of Flink's REST interface that these tests make. */
public final class Rest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BOUNDARY = "afterbay-boundary";

    private final HttpClient http = HttpClient.newHttpClient();
    private final String base;
    private final Duration callLimit;

    Rest(int port) {
        this("http://localhost:" + port, Await.DEADLINE);
    }

    private Rest(String base, Duration callLimit) {
        this.base = base;
        this.callLimit = callLimit;
    }

    /** The same calls, given up after another time. */
    public Rest within(Duration limit) {
        return new Rest(base, limit);
    }

    /** A REST call that was answered with an error. */
    public static final class RestException extends IOException {
        private static final long serialVersionUID = 1;

        RestException(String call, int status, String body) {
            super("%s: status %d: %s".formatted(call, status, body));
        }
    }

    /** Slots of all registered TaskManagers; 0 while the JobManager does not answer. */
    int slots() throws Exception {
        try {
            return get("/overview").path("slots-total").asInt();
        } catch (IOException e) {
            return 0;
        }
    }

    /** Uploads a jar; returns its id. */
    public String upload(Path jar) throws Exception {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.write(
                ("--%s\r\nContent-Disposition: form-data; name=\"jarfile\"; filename=\"%s\"\r\n"
                                + "Content-Type: application/x-java-archive\r\n\r\n")
                        .formatted(BOUNDARY, jar.getFileName())
                        .getBytes(StandardCharsets.UTF_8));
        Files.copy(jar, body);
        body.write("\r\n--%s--\r\n".formatted(BOUNDARY).getBytes(StandardCharsets.UTF_8));
        HttpRequest request =
                request("/jars/upload")
                        .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY)
                        .POST(BodyPublishers.ofByteArray(body.toByteArray()))
                        .build();
        String file = call(request).path("filename").asText();
        return file.substring(file.lastIndexOf('/') + 1);
    }

    /**
     * Runs a jar; returns the job's id.
     *
     * @param from savepoint or checkpoint to start from, if any
     * @param config of the job, over the cluster's
     */
    public String run(
            String jar,
            List<String> arguments,
            int parallelism,
            @Nullable String from,
            Map<String, String> config)
            throws Exception {
        ObjectNode body = JSON.createObjectNode();
        body.set("programArgsList", JSON.valueToTree(arguments));
        body.put("parallelism", parallelism);
        body.set("flinkConfiguration", JSON.valueToTree(config));
        if (from != null) {
            body.put("savepointPath", from);
        }
        return post("/jars/%s/run".formatted(jar), body).path("jobid").asText();
    }

    public String status(String job) throws Exception {
        return job(job).path("state").asText();
    }

    List<String> unfinishedJobs() throws Exception {
        List<String> jobs = new ArrayList<>();
        for (JsonNode job : get("/jobs").path("jobs")) {
            if (!isEnd(job.path("status").asText())) {
                jobs.add(job.path("id").asText());
            }
        }
        return jobs;
    }

    public JsonNode job(String job) throws Exception {
        return get("/jobs/" + job);
    }

    /** Records that the job's sources have emitted since it was started or last restarted. */
    public long emitted(String job) throws Exception {
        long records = 0;
        for (JsonNode vertex : job(job).path("vertices")) {
            if (vertex.path("name").asText().startsWith("Source: ")) {
                records += vertex.path("metrics").path("write-records").asLong();
            }
        }
        return records;
    }

    /** Resource ids of the TaskManagers that run tasks of the job. */
    public TreeSet<String> hosts(String job) throws Exception {
        TreeSet<String> hosts = new TreeSet<>();
        for (JsonNode vertex : job(job).path("vertices")) {
            String id = vertex.path("id").asText();
            JsonNode subtasks = get("/jobs/%s/vertices/%s".formatted(job, id)).path("subtasks");
            subtasks.forEach(s -> hosts.add(s.path("taskmanager-id").asText()));
        }
        return hosts;
    }

    public JsonNode checkpoints(String job) throws Exception {
        return get("/jobs/%s/checkpoints".formatted(job));
    }

    /** Where the REST interface is. */
    public String url() {
        return base;
    }

    /** Names of all metrics of all operators of the job. */
    public String metricNames(String job) throws Exception {
        StringBuilder names = new StringBuilder();
        for (JsonNode vertex : job(job).path("vertices")) {
            String id = vertex.path("id").asText();
            names.append(get("/jobs/%s/vertices/%s/metrics".formatted(job, id)));
        }
        return names.toString();
    }

    /** The sum of a gauge over all operators of the job and their instances that have it now. */
    public long sum(String job, String gauge) throws Exception {
        long sum = 0;
        for (JsonNode vertex : job(job).path("vertices")) {
            String metrics =
                    "/jobs/%s/vertices/%s/metrics".formatted(job, vertex.path("id").asText());
            String ids =
                    ids(get(metrics))
                            .filter(id -> id.endsWith("." + gauge))
                            .map(id -> URLEncoder.encode(id, StandardCharsets.UTF_8))
                            .collect(Collectors.joining(","));
            if (!ids.isEmpty()) {
                for (JsonNode metric : get(metrics + "?get=" + ids)) {
                    sum += metric.path("value").asLong();
                }
            }
        }
        return sum;
    }

    private static Stream<String> ids(JsonNode metrics) {
        return StreamSupport.stream(metrics.spliterator(), false).map(m -> m.path("id").asText());
    }

    /** The exceptions of a job, newest first, with their stack traces, as one text. */
    public String exceptions(String job) throws Exception {
        StringBuilder text = new StringBuilder();
        JsonNode history = get("/jobs/%s/exceptions".formatted(job)).path("exceptionHistory");
        history.path("entries").forEach(e -> text.append(e.path("stacktrace").asText()));
        return text.toString();
    }

    /**
     * Stops the job with a savepoint; returns the savepoint's path.
     *
     * @param format CANONICAL or NATIVE
     */
    public String stopWithSavepoint(String job, Path directory, String format) throws Exception {
        awaitAllRunning(job);
        ObjectNode body = JSON.createObjectNode();
        body.put("targetDirectory", directory.toUri().toString());
        body.put("drain", false);
        body.put("formatType", format);
        String path = awaitSavepoint(job, post("/jobs/%s/stop".formatted(job), body));
        awaitStatus(job, "FINISHED");
        return path;
    }

    /** Takes a savepoint of a job that goes on; returns its path. */
    public String savepoint(String job, Path directory, String format) throws Exception {
        awaitAllRunning(job);
        ObjectNode body = JSON.createObjectNode();
        body.put("target-directory", directory.toUri().toString());
        body.put("formatType", format);
        return awaitSavepoint(job, post("/jobs/%s/savepoints".formatted(job), body));
    }

    /** Takes a checkpoint of the kind that the job is configured for; returns its id. */
    public long checkpoint(String job) throws Exception {
        awaitAllRunning(job);
        ObjectNode body = JSON.createObjectNode();
        body.put("checkpointType", "CONFIGURED");
        String path = "/jobs/%s/checkpoints".formatted(job);
        String request = post(path, body).path("request-id").asText();
        JsonNode operation = awaitOperation(path + "/" + request);
        JsonNode id = operation.path("checkpointId");
        if (id.isMissingNode()) {
            throw new AssertionError("the checkpoint failed: " + operation);
        }
        return id.asLong();
    }

    /**
     * Some tasks may have emitted a lot while others still start, and then there is no savepoint.
     */
    private void awaitAllRunning(String job) throws Exception {
        Await.until(
                () -> "all tasks of job %s to run: %s".formatted(job, job(job).path("vertices")),
                () -> {
                    boolean all = true;
                    for (JsonNode vertex : job(job).path("vertices")) {
                        int running = vertex.path("tasks").path("RUNNING").asInt();
                        all &= running == vertex.path("parallelism").asInt();
                    }
                    return all;
                });
    }

    private String awaitSavepoint(String job, JsonNode triggered) throws Exception {
        String id = triggered.path("request-id").asText();
        JsonNode operation = awaitOperation("/jobs/%s/savepoints/%s".formatted(job, id));
        JsonNode location = operation.path("location");
        if (location.isMissingNode()) {
            throw new AssertionError("the savepoint failed: " + operation);
        }
        return location.asText();
    }

    private JsonNode awaitOperation(String path) throws Exception {
        JsonNode[] last = new JsonNode[1];
        Await.until(
                () -> "%s: %s".formatted(path, last[0]),
                () -> {
                    last[0] = get(path);
                    return "COMPLETED".equals(last[0].path("status").path("id").asText());
                });
        return last[0].path("operation");
    }

    public void cancel(String job) throws Exception {
        call(request("/jobs/" + job).method("PATCH", BodyPublishers.noBody()).build());
        awaitStatus(job, "CANCELED");
    }

    /** Waits for a state, and fails at once when the job ends in another one. */
    public void awaitStatus(String job, String wanted) throws Exception {
        Await.until(
                () -> "job %s to be %s; it is %s".formatted(job, wanted, status(job)),
                () -> {
                    String status = status(job);
                    if (!status.equals(wanted) && isEnd(status)) {
                        throw new AssertionError(
                                "job %s is %s, not %s:%n%s"
                                        .formatted(job, status, wanted, exceptions(job)));
                    }
                    return status.equals(wanted);
                });
    }

    private static boolean isEnd(String status) {
        return List.of("FINISHED", "FAILED", "CANCELED").contains(status);
    }

    public JsonNode get(String path) throws Exception {
        return call(request(path).GET().build());
    }

    private JsonNode post(String path, JsonNode body) throws Exception {
        return call(
                request(path)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body.toString()))
                        .build());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).timeout(callLimit);
    }

    private JsonNode call(HttpRequest request) throws Exception {
        var response = http.send(request, BodyHandlers.ofString());
        if (response.statusCode() >= 300) {
            throw new RestException(
                    request.method() + " " + request.uri().getPath(),
                    response.statusCode(),
                    response.body());
        }
        return response.body().isEmpty() ? JSON.nullNode() : JSON.readTree(response.body());
    }
}
