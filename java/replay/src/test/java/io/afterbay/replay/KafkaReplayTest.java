package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that read from Kafka, and write to it, with a broker in a process of its own. */
class KafkaReplayTest {
    private static final Set<TransactionState> COMMITTED_OR_UNUSED =
            Set.of(TransactionState.COMPLETE_COMMIT, TransactionState.EMPTY);

    private static final ReplayRange RANGE = new ReplayRange(2_000, 6_000);
    private static final int NUMBERS = 9_000;
    private static final int PARTITIONS = 3;

    /** Records/s of which some are left whatever happens meanwhile: the range takes minutes. */
    private static final double SLOW = 30;

    @TempDir private static Path brokerDirectory;
    private static Broker broker;
    private static Admin admin;
    private static int topics;

    @TempDir private Path directory;
    private Replaying replaying;
    private String topic;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.start(brokerDirectory);
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()));
    }

    @AfterAll
    static void stopBroker() throws Exception {
        admin.close();
        broker.close();
    }

    /** The number n has the time n in Kafka, and the event in it another one. */
    @BeforeEach
    void start() throws Exception {
        topic = "numbers-" + topics++;
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker.bootstrap());
        // A partition may not be there yet: a second batch that it takes first stays alone for
        // ever.
        settings.put("max.in.flight.requests.per.connection", "1");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < NUMBERS; number++) {
                producer.send(
                        new ProducerRecord<>(
                                topic,
                                number % PARTITIONS,
                                (long) number,
                                null,
                                Integer.toString(number)));
            }
        }
        replaying = new Replaying(directory);
    }

    @AfterEach
    void stop() throws Exception {
        replaying.close();
    }

    private KafkaSource<String> source() {
        return KafkaSource.<String>builder()
                .setBootstrapServers(broker.bootstrap())
                .setTopics(topic)
                .setGroupId("live-" + topic)
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setValueOnlyDeserializer(new SimpleStringSchema())
                .build();
    }

    /** Its event time is far from the time in Kafka's log, by which it is replayed. */
    private StreamGraph job() {
        StreamExecutionEnvironment env = Replaying.environment();
        WatermarkStrategy<String> times =
                WatermarkStrategy.<String>forMonotonousTimestamps()
                        .withTimestampAssigner((text, ms) -> ms + 1_000_000);
        Replaying.count(
                env.fromSource(source(), times, "numbers")
                        .uid("source")
                        .map(Long::parseLong)
                        .returns(Types.LONG));
        return env.getStreamGraph();
    }

    private void assertRangeOnce() throws Exception {
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(2_000, 6_000));
        assertThat(replaying.lastProgress().records()).isEqualTo(4_000);
    }

    private static Map<String, Long> committed(String group) throws Exception {
        Map<String, Long> committed = new HashMap<>();
        admin.listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get()
                .forEach(
                        (partition, offset) ->
                                committed.put(partition.toString(), offset.offset()));
        return committed;
    }

    /** After a failure, and after another one: the connector's own enumerator would never end. */
    @Test
    void exactlyTheRangeIsReadAndEndsOverFailures() throws Exception {
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(job(), RANGE);
        for (int failure = 1; failure <= 2; failure++) {
            long before = Replaying.PASSED.get();
            Replaying.awaitPassed(before + 20);
            replaying.checkpoint(job);
            Replaying.awaitPassed(Replaying.PASSED.get() + 10);
            Replaying.failOnce();
        }
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertRangeOnce();
    }

    /**
     * The whole job comes back: nothing of the enumerator that had found the partitions is left.
     */
    @Test
    void itEndsAfterItWasResumed() throws Exception {
        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(job(), RANGE);
        Replaying.awaitPassed(30);
        replaying.checkpoint(job);
        String checkpoint = replaying.latestCheckpoint(job);
        replaying.cluster().cancelJob(job).get();
        Await.until(
                "it is cancelled",
                () -> replaying.cluster().getJobStatus(job).get() == JobStatus.CANCELED);
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(replaying.replay(job(), RANGE, checkpoint));
        assertRangeOnce();
    }

    /** The reason for ours: if this fails, the connector is mended, and ours may go. */
    @Test
    void theConnectorsOwnEnumeratorDoesNotSayAfterARestoreThatThereIsNoMore() throws Exception {
        Source<String, KafkaPartitionSplit, KafkaSourceEnumState> bounded =
                KafkaSources.bound(source(), "numbers", RANGE, "r1").source();
        RecordingContext<KafkaPartitionSplit> first = new RecordingContext<>();
        first.register(0);
        KafkaSourceEnumState checkpoint;
        try (var enumerator = bounded.createEnumerator(first)) {
            enumerator.start();
            assertThat(first.assigned).hasSize(PARTITIONS);
            assertThat(first.withoutMore).containsExactly(0);
            checkpoint = enumerator.snapshotState(1);
        }
        RecordingContext<KafkaPartitionSplit> plain = new RecordingContext<>();
        try (var enumerator = bounded.restoreEnumerator(plain, checkpoint)) {
            assertThat(afterARestore(enumerator, plain)).isEmpty();
        }
        RecordingContext<ReplaySplit<KafkaPartitionSplit>> ours = new RecordingContext<>();
        try (var enumerator =
                KafkaPartitions.restore(bounded, new SplitContext<>(ours), checkpoint)) {
            assertThat(afterARestore(enumerator, ours)).containsExactly(0);
            assertThat(ours.assigned).as("what readers have already").isEmpty();
        }
    }

    private static List<Integer> afterARestore(
            SplitEnumerator<?, ?> enumerator, RecordingContext<?> context) {
        enumerator.start();
        context.register(0);
        enumerator.addReader(0);
        return context.withoutMore;
    }

    @Test
    void theLiveGroupIsNotTouchedAndNothingIsCommitted() throws Exception {
        JobID live = replaying.submit(job());
        Replaying.awaitPassed(NUMBERS);
        replaying.checkpoint(live);
        String group = "live-" + topic;
        Await.until("its offsets are committed", () -> committed(group).size() == PARTITIONS);
        replaying.cluster().cancelJob(live).get();
        Await.until(
                "it is cancelled",
                () -> replaying.cluster().getJobStatus(live).get() == JobStatus.CANCELED);
        Map<String, Long> before = committed(group);

        replaying.control.setRate(SLOW);
        JobID job = replaying.replay(job(), RANGE);
        Replaying.awaitPassed(NUMBERS + 30);
        replaying.checkpoint(job);
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertRangeOnce();
        assertThat(committed(group)).isEqualTo(before);
        assertThat(committed(group + "-replay-r1")).isEmpty();
    }

    @Test
    void anEndInTheFutureIsWhatIsThere() throws Exception {
        replaying.finish(replaying.replay(job(), new ReplayRange(8_000, Long.MAX_VALUE)));
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(8_000, NUMBERS));
    }

    @Test
    void whatRetentionHasDeletedIsMissedAndItSaysFromWhereItIsThere() throws Exception {
        Map<TopicPartition, RecordsToDelete> old = new HashMap<>();
        old.put(new TopicPartition(topic, 1), RecordsToDelete.beforeOffset(1_000));
        admin.deleteRecords(old).all().get();
        JobID job = replaying.replay(job(), RANGE);
        assertThatThrownBy(() -> replaying.finish(job))
                .hasStackTraceContaining(
                        "source 'numbers' is to be replayed from 1970-01-01T00:00:02Z, but Kafka's retention has deleted older records of it: "
                                + topic
                                + "-1 from 1970-01-01T00:00:03.001Z")
                .hasStackTraceContaining("The failure is not recoverable");
        assertThat(Replaying.PASSED.get()).isZero();

        replaying.finish(replaying.replay(job(), new ReplayRange(3_001, 6_000)));
        assertThat(Replaying.COUNTED).isEqualTo(Sources.once(3_001, 6_000));
    }

    @Test
    void transactionsHaveNamesThatTheLiveJobDoesNotTakeForItsOwn() throws Exception {
        admin.createTopics(List.of(new NewTopic(topic + "-out", 1, (short) 1))).all().get();
        StreamExecutionEnvironment env = Replaying.environment();
        KafkaSink<String> sink =
                KafkaSink.<String>builder()
                        .setBootstrapServers(broker.bootstrap())
                        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                        .setTransactionalIdPrefix(topic + "-live")
                        .setProperty("transaction.timeout.ms", "600000")
                        .setRecordSerializer(
                                KafkaRecordSerializationSchema.<String>builder()
                                        .setTopic(topic + "-out")
                                        .setValueSerializationSchema(new SimpleStringSchema())
                                        .build())
                        .build();
        env.fromSource(source(), WatermarkStrategy.noWatermarks(), "numbers").sinkTo(sink);
        StreamGraph graph = env.getStreamGraph();
        List<String> lines = replaying.rewrite(graph, RANGE);
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1))
                .endsWith("transactions of Kafka begin with replay-r1-" + topic + "-live");
        replaying.finish(replaying.submit(graph));
        // Kafka answers a commit before readers of committed records see it.
        Await.until(
                () -> "all transactions are complete: " + transactions(),
                () ->
                        transactions().stream()
                                .map(TransactionListing::state)
                                .allMatch(COMMITTED_OR_UNUSED::contains));
        assertThat(transactions())
                .isNotEmpty()
                .extracting(TransactionListing::transactionalId)
                .allSatisfy(name -> assertThat(name).startsWith("replay-r1-" + topic + "-live"));
        assertThat(Fields.get(sink, "transactionalIdPrefix")).isEqualTo(topic + "-live");
        assertThat(written(topic + "-out"))
                .isEqualTo(new TreeSet<>(Sources.once(2_000, 6_000).keySet()));
    }

    private List<TransactionListing> transactions() throws Exception {
        return admin.listTransactions().all().get().stream()
                .filter(one -> one.transactionalId().contains(topic))
                .toList();
    }

    /** What readers of committed records see. */
    private static TreeSet<Long> written(String topic) throws Exception {
        TreeSet<Long> numbers = new TreeSet<>();
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker.bootstrap());
        settings.put("isolation.level", "read_committed");
        TopicPartition partition = new TopicPartition(topic, 0);
        try (var consumer =
                new KafkaConsumer<byte[], byte[]>(
                        settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100))
                        .forEach(
                                record ->
                                        numbers.add(
                                                Long.parseLong(
                                                        new String(
                                                                record.value(),
                                                                StandardCharsets.UTF_8))));
            }
        }
        return numbers;
    }
}
