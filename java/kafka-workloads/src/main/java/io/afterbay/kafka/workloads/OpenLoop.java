package io.afterbay.kafka.workloads;

import io.afterbay.workloads.run.LatencyTimeline;
import io.afterbay.workloads.run.RowSum;
import io.afterbay.workloads.wordcount.OpenLoopPlan;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;

/** One application from its topics to its counts, in a process of its own. */
final class OpenLoop {
    /** Of the process with Kafka Streams; stores are beside it. */
    private static final List<String> FLAGS = List.of("-Xmx768m", "-XX:+ExitOnOutOfMemoryError");

    /**
     * How long a word may wait for others at each of the hops between feed, application and reader.
     * Without it, requests with a few words each take the processors.
     */
    private static final int TOGETHER_MS = 20;

    private static final int TOGETHER_BYTES = 32 << 10;

    private final OpenLoopPlan plan;
    private final WordCountPlan loop;
    private final Path directory;
    private final Counting.Listener listener;

    /**
     * What came of it.
     *
     * @param counts identifies all counts
     * @param elapsedS from when the first word was due to the last result
     * @param cpuNanos processor time of both processes while words came
     * @param cpuOfStreams processor time of the other one, from its start
     */
    record Result(
            String counts,
            double elapsedS,
            long cpuNanos,
            Duration cpuOfStreams,
            LatencyTimeline timeline,
            StreamsProcess.Figures figures) {}

    /**
     * @param plan of which this is a loop
     * @param directory for stores and the log of the process
     */
    OpenLoop(OpenLoopPlan plan, WordCountPlan loop, Path directory, Counting.Listener listener) {
        this.plan = plan;
        this.loop = loop;
        this.directory = directory;
        this.listener = listener;
    }

    /**
     * Returns when all is counted, and the application has ended.
     *
     * @param rampUpWords that do not count for latencies and processors
     * @throws WordCountException if something fails, or a count is wrong
     */
    Result run(long rampUpWords) throws WordCountException, IOException, InterruptedException {
        try (WordTopics topics = new WordTopics(loop)) {
            topics.create();
            listener.at("starting Kafka Streams", 0, 0);
            try (StreamsProcess streams = start();
                    WordFeed feed = new WordFeed(loop, TOGETHER_MS)) {
                return count(streams, feed, rampUpWords);
            } finally {
                topics.delete();
            }
        }
    }

    /** Settings of a consumer. */
    private static Map<String, Object> fetch(String prefix) {
        return Map.of(
                prefix + ConsumerConfig.FETCH_MIN_BYTES_CONFIG,
                String.valueOf(TOGETHER_BYTES),
                prefix + ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,
                String.valueOf(TOGETHER_MS));
    }

    private StreamsProcess start() throws IOException, WordCountException {
        Map<String, String> settings = new HashMap<>();
        fetch(StreamsConfig.MAIN_CONSUMER_PREFIX)
                .forEach((key, value) -> settings.put(key, value.toString()));
        settings.put(
                StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG),
                String.valueOf(TOGETHER_MS));
        settings.putAll(loop.settings()); // the user's come first
        return StreamsProcess.start(
                loop.with(settings),
                directory.resolve(loop.name()),
                directory.resolve("streams.log"),
                plan.streamsClassPath(),
                Stream.concat(FLAGS.stream(), plan.streamsOptions().stream()).toList());
    }

    private Result count(StreamsProcess streams, WordFeed feed, long rampUpWords)
            throws WordCountException, IOException {
        AtomicLong arrived = new AtomicLong();
        long cpuBefore = cpuNanos(streams);
        try (LatencyTimeline timeline =
                        new LatencyTimeline(
                                () -> cpuNanos(streams), () -> feed.due() - arrived.get());
                CountReader reader =
                        new CountReader(
                                loop,
                                fetch(""),
                                micros -> {
                                    if (arrived.incrementAndGet() == rampUpWords + 1) {
                                        timeline.start();
                                    }
                                    timeline.arrived(micros);
                                })) {
            new Counting(loop, streams, listener).run(feed, reader);
            timeline.close();
            long cpu = cpuNanos(streams) - cpuBefore;
            check(reader);
            return new Result(
                    sum(reader),
                    reader.elapsedSeconds(),
                    cpu,
                    streams.cpu(),
                    timeline,
                    streams.end());
        }
    }

    private static long cpuNanos(StreamsProcess streams) {
        return ownCpu().plus(streams.cpu()).toNanos();
    }

    /** Of this process, so far. */
    static Duration ownCpu() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private void check(CountReader reader) throws WordCountException {
        String problem = reader.check().problem(loop.stream().counts(loop.words()));
        if (problem != null) {
            throw new WordCountException(problem);
        }
    }

    private static String sum(CountReader reader) {
        RowSum sum = new RowSum();
        reader.check().counts().forEach((word, count) -> sum.add(word + "," + count));
        return sum.toString();
    }
}
