package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.ResultsTableFactory;
import io.afterbay.edge.lines.TopicOptions;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The whole job as one would run it without this project: a Kafka producer at each site sends each
 * line as a record, over the link straight to the broker, and Flink reads the topic with Kafka's
 * own source. Each site has a partition, with a watermark of its own.
 *
 * <pre>
 *   site a ── producer ── link ── entrance 0 ──┐
 *   site b ── producer ── link ── entrance 1 ──┴─ broker ── partitions 0, 1 ── Flink
 * </pre>
 *
 * <p>The broker tells a producer the port of the link's end, so that it stays on its link. What is
 * killed is not started again, as a topic has no second chance to have each line once.
 */
final class ProducersFeed implements CloudFeed {
    private static final String TOPIC = "reports";
    private static final String LOOPBACK = "127.0.0.1:";
    private static final long STEP_MS = 10;

    private final KafkaPrograms programs;
    private final RunnableJob job;
    private final Map<String, long[]> lines;
    private final Path directory;
    private final SupervisedProgram broker;
    private final List<SupervisedProgram> producers = new ArrayList<>();
    private String bootstrap = "";

    ProducersFeed(
            KafkaPrograms programs,
            RunnableJob job,
            Timeline timeline,
            Path seen,
            LinkTrouble links,
            LiveOptions options,
            Path directory)
            throws CommandFailure, IOException, InterruptedException {
        this.programs = programs;
        this.job = job;
        this.lines = timeline.lines();
        this.directory = directory;
        List<Integer> relays = new ArrayList<>();
        for (String site : lines.keySet()) {
            int number = relays.size();
            relays.add(links.open(site, () -> entrance(number), options));
        }
        this.broker =
                SupervisedProgram.once(
                        "broker", programs.broker(directory.resolve("kafka"), relays), directory);
        try {
            bootstrap = places(broker.firstLine())[0];
            createTopic();
            for (String site : lines.keySet()) {
                producers.add(startProducer(site, Play.file(seen, site), relays));
            }
            for (SupervisedProgram producer : producers) {
                producer.firstLine();
            }
        } catch (CommandFailure | IOException | InterruptedException e) {
            close();
            throw e;
        }
    }

    /** HOST:PORT of the broker, and the port of each entrance. */
    private static String[] places(String said) {
        return said.strip().split(" ", -1);
    }

    /** The port behind a link. */
    private int entrance(int number) throws IOException {
        String said = broker.lineSoFar();
        if (said == null) {
            throw new ConnectException("the broker does not say yet where it listens");
        }
        return Integer.parseInt(places(said)[1 + number]);
    }

    private void createTopic() throws CommandFailure, IOException, InterruptedException {
        try (SupervisedProgram creation =
                SupervisedProgram.once(
                        "topic", programs.topic(bootstrap, TOPIC, lines.size()), directory)) {
            while (!creation.look()) {
                Thread.sleep(STEP_MS);
            }
        }
    }

    private SupervisedProgram startProducer(String site, Path seen, List<Integer> relays)
            throws IOException {
        int number = producers.size();
        return SupervisedProgram.once(
                "producer-" + site,
                programs.producer(LOOPBACK + relays.get(number), TOPIC, number, seen),
                directory);
    }

    @Override
    public String name() {
        return "whole job, Kafka producers";
    }

    @Override
    public PlanJson job(Path results) {
        List<Map<String, String>> places = new ArrayList<>();
        for (long[] ofSite : lines.values()) {
            places.add(
                    Tables.withFormatOf(
                            job.source(),
                            TopicOptions.json(bootstrap, TOPIC, places.size(), ofSite.length)));
        }
        return job.plan()
                .withPartitions(job.source().name(), places)
                .withSinks(ResultsTableFactory.json(results));
    }

    @Override
    public boolean look(long sinceStartMs) throws CommandFailure, IOException {
        if (broker.look()) {
            throw new CommandFailure("the broker has ended, and nobody has asked it to");
        }
        boolean all = true;
        for (SupervisedProgram producer : producers) {
            all &= producer.look();
        }
        return all;
    }

    /** Flink knows how many records there will be. */
    @Override
    public void finish() {}

    LiveOutcome.Producers usage() {
        long peakBytes = 0;
        Duration cpu = Duration.ZERO;
        for (SupervisedProgram producer : producers) {
            peakBytes = Math.max(peakBytes, producer.usage().peakBytes());
            cpu = cpu.plus(producer.usage().cpu());
        }
        return new LiveOutcome.Producers(peakBytes, cpu);
    }

    @Override
    public void close() {
        producers.forEach(SupervisedProgram::close);
        broker.close();
    }
}
