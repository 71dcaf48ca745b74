package io.afterbay.edge.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.mqtt.BrokerAddress;
import io.afterbay.edge.mqtt.LinePublisher;
import io.afterbay.edge.mqtt.LinePublisher.Topics;
import io.afterbay.edge.mqtt.TopicReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What sites see as messages: a broker, a topic for each site, and what publishes its lines there.
 *
 * <pre>
 *   seen ── publisher ── afterbay/RUN/SITE ───── agent
 *                     `─ afterbay/RUN/SITE/end ─'   when the broker has everything
 *
 *   agent ── TOPIC ── reader   if rows are published, too
 * </pre>
 *
 * For one thread.
 */
final class SiteMessages implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** Whoever is asked answers at once, or not at all. */
    private static final int ANSWER_MS = 1_000;

    private static final long BETWEEN_ASKING_NS = Duration.ofMillis(500).toNanos();

    /** In the middle: what is lost at the end could be missed by chance. */
    private static final long LOST_LINE = 100;

    private final LiveOptions.Messages options;
    private final Collection<String> sites;
    private final String run = "run-" + UUID.randomUUID().toString().substring(0, 8);
    private final @Nullable Mosquitto mosquitto;
    private final BrokerAddress broker;
    private final Map<String, LinePublisher> publishers = new LinkedHashMap<>();
    private final Map<String, SupervisedProgram> agents = new LinkedHashMap<>();
    private final LastMessages last;
    private final @Nullable TopicReader reader;
    private long askedNs = System.nanoTime();

    /**
     * Starts a broker if none is given.
     *
     * @param directory for its files
     */
    SiteMessages(LiveOptions.Messages options, Collection<String> sites, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        this.options = options;
        this.sites = sites;
        BrokerAddress given = options.broker();
        this.mosquitto = given == null ? Mosquitto.start(options.mosquitto(), directory) : null;
        this.broker = mosquitto == null ? Objects.requireNonNull(given) : mosquitto.address();
        this.last = new LastMessages(broker, options.patience(), System::nanoTime);
        try {
            LinePublisher.forget(broker, "afterbay-" + run);
            this.reader = reader(options.publish());
        } catch (IOException e) {
            if (mosquitto != null) {
                mosquitto.close();
            }
            throw new CommandFailure(
                    "--mqtt %s: %s".formatted(broker, CommandFailure.reason(e)), e);
        }
    }

    /** Nothing waits for a reader that has not subscribed. */
    private @Nullable TopicReader reader(@Nullable String topic)
            throws IOException, InterruptedException {
        return topic == null
                ? null
                : TopicReader.start(
                        broker,
                        "afterbay-%s-reader".formatted(run),
                        topic,
                        "afterbay/%s/published".formatted(run),
                        options.patience());
    }

    /** What the agent of a site is told of its input, and of the broker. */
    List<String> agentArguments(String site) {
        Topics topics = topics(site);
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "--mqtt",
                                broker.toString(),
                                "--topic",
                                topics.lines(),
                                "--end-topic",
                                topics.end(),
                                "--client-id",
                                clientId(site),
                                "--admin",
                                "127.0.0.1:0"));
        add(arguments, "--sequence", options.sequence());
        add(arguments, "--by", options.by());
        add(arguments, "--publish", options.publish());
        return arguments;
    }

    private static void add(List<String> arguments, String option, @Nullable String value) {
        if (value != null) {
            arguments.addAll(List.of(option, value));
        }
    }

    private Topics topics(String site) {
        String lines = "afterbay/%s/%s".formatted(run, site);
        return new Topics(lines, lines + "/end");
    }

    private String clientId(String site) {
        return "afterbay-%s-%s".formatted(run, site);
    }

    /**
     * Waits until agents have subscribed, since nothing waits for those who have not, and begins to
     * publish.
     *
     * @param agents by their sites
     * @param seen the directory of {@link Play#file}
     */
    void begin(Map<String, SupervisedProgram> agents, Path seen)
            throws CommandFailure, IOException, InterruptedException {
        this.agents.putAll(agents);
        for (Map.Entry<String, SupervisedProgram> agent : agents.entrySet()) {
            awaitSubscription(agent.getKey(), agent.getValue());
        }
        for (String site : sites) {
            publishers.put(site, publisher(site, Play.file(seen, site)));
        }
    }

    private LinePublisher publisher(String site, Path seen) {
        String sensor = clientId(site) + "-sensor";
        Duration patience = options.patience();
        return options.losesOne() && publishers.isEmpty()
                ? LinePublisher.startWithout(
                        LOST_LINE, seen, broker, sensor, topics(site), patience)
                : LinePublisher.start(seen, broker, sensor, topics(site), patience);
    }

    private void awaitSubscription(String site, SupervisedProgram agent)
            throws CommandFailure, IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        JsonNode mqtt = JSON.missingNode();
        while (System.nanoTime() < deadline) {
            look();
            if (agent.look()) {
                throw new CommandFailure("agent-%s: has ended at its beginning".formatted(site));
            }
            mqtt = status(agent).path("mqtt");
            if (mqtt.path("brokerUp").asBoolean()) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        throw new CommandFailure(
                "agent-%s: has not subscribed at %s within %d s: %s"
                        .formatted(
                                site,
                                broker,
                                PATIENCE.toSeconds(),
                                mqtt.path("brokerError").asText("it does not say why")));
    }

    /** What an agent says of itself; missing if it says nothing. */
    private static JsonNode status(SupervisedProgram agent) throws IOException {
        String first = agent.lineSoFar();
        if (first == null) {
            return JSON.missingNode();
        }
        // Of the process that is there now: another one listens somewhere else.
        String admin = JSON.readTree(first).path("admin").asText();
        URLConnection connection =
                URI.create("http://" + admin + "/status").toURL().openConnection();
        connection.setConnectTimeout(ANSWER_MS);
        connection.setReadTimeout(ANSWER_MS);
        try (InputStream said = connection.getInputStream()) {
            return JSON.readTree(said);
        } catch (IOException e) {
            // It has ended, and whoever looks at it hears why.
            return JSON.missingNode();
        }
    }

    /**
     * @throws CommandFailure if what sites see will never be published, or never come to agents
     */
    void look() throws CommandFailure, IOException {
        if (mosquitto != null) {
            mosquitto.look();
        }
        boolean isAll = true;
        for (LinePublisher publisher : publishers.values()) {
            try {
                publisher.check();
            } catch (IOException e) {
                throw new CommandFailure("--mqtt: " + CommandFailure.reason(e), e);
            }
            isAll &= publisher.isDone();
        }
        if (isAll && System.nanoTime() - askedNs > BETWEEN_ASKING_NS) {
            for (Map.Entry<String, LinePublisher> site : publishers.entrySet()) {
                JsonNode status = status(Objects.requireNonNull(agents.get(site.getKey())));
                last.look(site.getKey(), status, site.getValue().published());
            }
            askedNs = System.nanoTime();
        }
    }

    /** What agents that are at their end have said last, and what was published. */
    LiveOutcome.Messages counts() throws IOException {
        long received = 0;
        long again = 0;
        long repeated = 0;
        long bad = 0;
        for (SupervisedProgram agent : agents.values()) {
            JsonNode mqtt = JSON.readTree(agent.lastLine()).path("mqtt");
            // Without that which says that it is the last one.
            received += Math.max(0, mqtt.path("messages").asLong() - 1);
            again += mqtt.path("sentAgain").asLong();
            repeated += mqtt.path("repeatedRows").asLong();
            bad += mqtt.path("badRows").asLong();
        }
        long published = publishers.values().stream().mapToLong(LinePublisher::published).sum();
        return new LiveOutcome.Messages(
                mosquitto == null ? broker.toString() : "mosquitto",
                published,
                received,
                again,
                repeated,
                bad);
    }

    /**
     * What agents have published before they have ended; null if they were not asked to.
     *
     * @param files of the gateway
     */
    LiveOutcome.@Nullable Published published(Collection<Path> files)
            throws CommandFailure, IOException, InterruptedException {
        TopicReader rows = reader;
        String topic = options.publish();
        if (rows == null || topic == null) {
            return null;
        }
        try {
            PublishedRows atGateway = PublishedRows.beside(files);
            Map<String, Integer> found = rows.end(options.patience(), atGateway::areAllIn);
            return atGateway.compare(topic, found, unpublished());
        } catch (IOException e) {
            throw new CommandFailure(
                    ("--publish %s: what agents have published there cannot be read from %s: %s."
                                    + " Start the broker, and run again")
                            .formatted(topic, broker, CommandFailure.reason(e)),
                    e);
        }
    }

    /**
     * Why rows may be missing, as agents that have ended tell it; empty if they know of nothing.
     */
    private String unpublished() throws IOException {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (SupervisedProgram agent : agents.values()) {
            JsonNode publish = JSON.readTree(agent.lastLine()).path("publish");
            for (String count : List.of("droppedRows", "refusedRows", "waitingRows")) {
                counts.merge(count, publish.path(count).asLong(), Long::sum);
            }
        }
        counts.values().removeIf(count -> count == 0);
        return counts.isEmpty() ? "" : "agents say " + counts;
    }

    /** Agents have ended before. */
    @Override
    public void close() {
        publishers.values().forEach(LinePublisher::close);
        if (reader != null) {
            reader.close();
        }
        if (mosquitto != null) {
            mosquitto.close();
            return;
        }
        try {
            for (String site : sites) {
                LinePublisher.forget(broker, clientId(site));
            }
        } catch (IOException e) {
            // Without the broker there is nobody who could forget, and each site would wait for it.
        }
    }
}
