package io.afterbay.kafka.workloads;

import io.afterbay.workloads.wordcount.WordCountPlan;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The topics of a run on a broker: made before it, removed after it. */
final class WordTopics implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WordTopics.class);
    private static final int REACH_MS = 5_000;
    private static final int TIMEOUT_MS = 60_000;

    private final WordCountPlan plan;
    private final Admin admin;

    /**
     * @throws WordCountException if there is no such host
     */
    WordTopics(WordCountPlan plan) throws WordCountException {
        this.plan = plan;
        Map<String, Object> config = WordCount.clients(plan);
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, REACH_MS);
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
        try {
            admin = Admin.create(config);
        } catch (KafkaException e) {
            throw unreachable(root(e));
        }
    }

    /** With as many replicas as the broker's default. */
    void create() throws WordCountException, InterruptedException {
        List<NewTopic> topics =
                Stream.of(WordCount.input(plan.name()), WordCount.output(plan.name()))
                        .map(
                                name ->
                                        new NewTopic(
                                                name,
                                                Optional.of(plan.partitions()),
                                                Optional.empty()))
                        .toList();
        try {
            admin.describeCluster(new DescribeClusterOptions().timeoutMs(REACH_MS))
                    .nodes()
                    .get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw unreachable(root(e));
        }
        try {
            admin.createTopics(topics).all().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new WordCountException(
                    "topics %s-* cannot be created on %s: %s; see that the user may create topics"
                            .formatted(plan.name(), plan.bootstrap(), root(e).getMessage()),
                    e);
        }
    }

    private WordCountException unreachable(Throwable cause) {
        return new WordCountException(
                "no Kafka broker answers at %s (%s); see that it runs and listens there, or leave out --bootstrap for an embedded one"
                        .formatted(plan.bootstrap(), cause.getMessage()),
                cause);
    }

    private static Throwable root(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** All topics of the run, those of Kafka Streams too; what cannot be deleted is logged. */
    void delete() throws InterruptedException {
        try {
            Set<String> topics =
                    admin.listTopics().names().get(TIMEOUT_MS, TimeUnit.MILLISECONDS).stream()
                            .filter(topic -> topic.startsWith(plan.name() + "-"))
                            .collect(Collectors.toSet());
            admin.deleteTopics(topics).all().get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.error(
                    "topics {}-* stay on {}: {}; delete them by hand",
                    plan.name(),
                    plan.bootstrap(),
                    root(e).getMessage());
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
