package io.afterbay.edge.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.Session;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.util.EnvironmentInformation;

/** A cluster of the user's, at the REST address of its JobManager. It gets no class of ours. */
public record FlinkCluster(String host, int port) {
    private static final Pattern FORM =
            Pattern.compile("(?:http://)?([A-Za-z0-9._-]+|\\[[0-9a-fA-F:.]+]):(\\d{1,5})/?");
    private static final int PORT_MAX = 65_535;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /**
     * Reads {@code HOST:PORT}.
     *
     * @throws IllegalArgumentException if it is not like that
     */
    public static FlinkCluster parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > PORT_MAX) {
            throw new IllegalArgumentException(
                    "'%s' is no HOST:PORT; for example localhost:8081".formatted(text));
        }
        return new FlinkCluster(matcher.group(1), Integer.parseInt(matcher.group(2)));
    }

    /**
     * Asks it who it is, before anything is begun for it.
     *
     * @throws CommandFailure if there is none, or one of another version
     */
    public void check() throws CommandFailure, InterruptedException {
        String found;
        try {
            HttpResponse<String> answer =
                    HttpClient.newBuilder()
                            .connectTimeout(PATIENCE)
                            .build()
                            .send(
                                    HttpRequest.newBuilder(
                                                    URI.create(
                                                            "http://%s/overview".formatted(this)))
                                            .timeout(PATIENCE)
                                            .build(),
                                    HttpResponse.BodyHandlers.ofString());
            found = new ObjectMapper().readTree(answer.body()).path("flink-version").asText();
        } catch (JsonProcessingException e) {
            found = "";
        } catch (IOException e) {
            throw new CommandFailure(
                    "--on %s: no Flink cluster answers there: %s"
                            .formatted(this, CommandFailure.reason(e)),
                    e);
        }
        if (found.isEmpty()) {
            throw new CommandFailure(
                    "--on %s: what answers there is no Flink cluster; name the REST address of its JobManager"
                            .formatted(this));
        }
        String version = EnvironmentInformation.getVersion();
        if (!found.equals(version)) {
            throw new CommandFailure(
                    "--on %s: the cluster is Flink %s, and plans are made for Flink %s only"
                            .formatted(this, found, version));
        }
    }

    /** Runs a plan there, with the session's jars; returns when its job has ended. */
    public void run(PlanJson plan, Session session) throws CommandFailure, InterruptedException {
        Configuration place = new Configuration();
        place.set(DeploymentOptions.TARGET, "remote");
        place.set(RestOptions.ADDRESS, host);
        place.set(RestOptions.PORT, port);
        EmbeddedFlink.run(plan, session, place);
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return host + ":" + port;
    }
}
