package io.afterbay.cli.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Optional;

/** Reads what a cluster says about itself and its jobs, and tells it something. Thread safe. */
public final class ClusterRest {
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);
    private static final int OK = 200;
    private static final int ACCEPTED = 202;
    private static final int NOT_FOUND = 404;

    private final ClusterAddress address;
    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    public ClusterRest(ClusterAddress address) {
        this.address = address;
    }

    /**
     * Checks that there is a cluster, of the right version and with room.
     *
     * @param version that the cluster must have
     * @param slots that a job needs
     * @throws ClusterException with the reason and the way out
     */
    public void check(String version, int slots) throws ClusterException, InterruptedException {
        JsonNode overview = get("/overview");
        String found = overview.path("flink-version").asText();
        if (found.isEmpty()) {
            throw new ClusterException(
                    "what answers at %s is no Flink cluster; name the REST address of its JobManager"
                            .formatted(address));
        }
        if (!found.equals(version)) {
            throw new ClusterException(
                    "the cluster at %s is Flink %s, this afterbay runs jobs on Flink %s only"
                            .formatted(address, found, version));
        }
        checkSlots(overview, slots);
    }

    private void checkSlots(JsonNode overview, int slots) throws ClusterException {
        int free = overview.path("slots-available").asInt();
        if (free < slots) {
            throw new ClusterException(
                    "the cluster at %s has %d free slots of %d, and --parallelism %d needs as many; choose less or free some"
                            .formatted(address, free, overview.path("slots-total").asInt(), slots));
        }
    }

    /**
     * The answer to a GET.
     *
     * @param path with its query
     * @throws ClusterException if there is none
     */
    public JsonNode get(String path) throws ClusterException, InterruptedException {
        return find(path).orElseThrow(() -> wrongStatus(path, NOT_FOUND));
    }

    /**
     * The answer to a GET, or empty if there is nothing of that name.
     *
     * @param path with its query
     * @throws ClusterException if there is no answer
     */
    public Optional<JsonNode> find(String path) throws ClusterException, InterruptedException {
        return send(path, HttpRequest.newBuilder());
    }

    /**
     * The answer to a request that changes something; empty if there is nothing of that name.
     *
     * @param method of HTTP
     * @param path with its query
     * @param content of the request
     * @throws ClusterException if it was not accepted
     */
    public Optional<JsonNode> ask(String method, String path, ObjectNode content)
            throws ClusterException, InterruptedException {
        return send(
                path,
                HttpRequest.newBuilder()
                        .header("Content-Type", "application/json")
                        .method(method, HttpRequest.BodyPublishers.ofString(content.toString())));
    }

    /** For the content of a request. */
    public ObjectNode newObject() {
        return json.createObjectNode();
    }

    private ClusterException wrongStatus(String path, int status) {
        return new ClusterException(
                "%s answers %s with status %d".formatted(address, path, status));
    }

    private Optional<JsonNode> send(String path, HttpRequest.Builder builder)
            throws ClusterException, InterruptedException {
        try {
            HttpRequest request =
                    builder.uri(URI.create("http://" + address + path))
                            .timeout(ANSWER_LIMIT)
                            .build();
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() == NOT_FOUND) {
                return Optional.empty();
            }
            if (answer.statusCode() != OK && answer.statusCode() != ACCEPTED) {
                throw wrongStatus(path, answer.statusCode());
            }
            return Optional.of(json.readTree(answer.body()));
        } catch (JsonProcessingException e) {
            throw new ClusterException(
                    "what answers at %s is no Flink cluster; name the REST address of its JobManager"
                            .formatted(address),
                    e);
        } catch (IOException e) {
            throw new ClusterException(
                    "no Flink cluster answers at %s: %s; name the REST address of its JobManager"
                            .formatted(address, reason(e)),
                    e);
        }
    }

    /** A line of the cluster's configuration, which clients cannot see otherwise. */
    public Optional<String> option(String key) throws ClusterException, InterruptedException {
        for (JsonNode entry : get("/jobmanager/config")) {
            if (entry.path("key").asText().equals(key)) {
                return Optional.of(entry.path("value").asText());
            }
        }
        return Optional.empty();
    }

    private static String reason(IOException e) {
        if (e instanceof ConnectException) {
            return e.getCause() instanceof UnresolvedAddressException
                            || e.getCause() != null
                                    && e.getCause().getCause() instanceof UnresolvedAddressException
                    ? "there is no such host"
                    : "connection refused";
        }
        if (e instanceof HttpTimeoutException) {
            return "timeout";
        }
        return String.valueOf(e.getMessage());
    }
}
