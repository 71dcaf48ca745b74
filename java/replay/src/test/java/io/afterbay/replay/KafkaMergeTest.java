package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.replay.merge.LiveWins;
import io.afterbay.replay.merge.MergeFigures;
import io.afterbay.replay.merge.OutputRow;
import io.afterbay.replay.merge.Resolver;
import io.afterbay.testing.Await;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Members' profiles of the past, replayed into the table that a live job writes. A profile is
 * {@code member,version}, its row {@code member -> version by CODE}.
 */
class KafkaMergeTest {
    private static final int MEMBERS = 600;

    /** When profiles of the past were written, and when the live job is told of new ones. */
    private static final long PAST_MS = 3_000;

    private static final long NOW_MS = 7_000;
    private static final ReplayRange RANGE = new ReplayRange(2_000, 6_000);

    private static final String REPLAY = "replay";

    /** Records/s of which some are left whatever happens meanwhile: all take 100 s. */
    private static final double SLOW = 6;

    private static final AtomicLong PASSED = new AtomicLong();
    private static final AtomicBoolean FAIL = new AtomicBoolean();

    @TempDir private static Path brokerDirectory;
    private static Broker broker;
    private static Admin admin;
    private static int topics;

    @TempDir private Path directory;
    private Replaying replaying;
    private KafkaTable profiles;
    private KafkaTable table;

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

    /** The past has a profile of each member, and the table has what old code made of it. */
    @BeforeEach
    void start() throws Exception {
        PASSED.set(0);
        FAIL.set(false);
        profiles = table("profiles-" + topics);
        table = table("table-" + topics++);
        Map<String, String> past = new HashMap<>();
        for (int member = 0; member < MEMBERS; member++) {
            past.put(member(member), member(member) + ",1");
        }
        profiles.put(PAST_MS, past);
        past.replaceAll((member, profile) -> "1 by old");
        table.put(PAST_MS, past);
        replaying = new Replaying(directory);
    }

    private static KafkaTable table(String topic) throws Exception {
        return KafkaTable.create(admin, broker.bootstrap(), topic, 3);
    }

    @AfterEach
    void stop() throws Exception {
        replaying.close();
        profiles.close();
        table.close();
    }

    private static String member(int number) {
        return "member" + number;
    }

    private KafkaSource<String> source() {
        return KafkaSource.<String>builder()
                .setBootstrapServers(broker.bootstrap())
                .setTopics(profiles.topic())
                .setGroupId("live")
                .setStartingOffsets(OffsetsInitializer.timestamp(RANGE.toMs()))
                .setValueOnlyDeserializer(new SimpleStringSchema())
                .build();
    }

    private KafkaSink<String> sink(DeliveryGuarantee guarantee) {
        return KafkaSink.<String>builder()
                .setBootstrapServers(broker.bootstrap())
                .setDeliveryGuarantee(guarantee)
                .setTransactionalIdPrefix(table.topic())
                .setProperty("transaction.timeout.ms", "600000")
                .setRecordSerializer(
                        KafkaRecordSerializationSchema.<String>builder()
                                .setTopic(table.topic())
                                .setKeySerializationSchema(new Part(0))
                                .setValueSerializationSchema(new Part(1))
                                .build())
                .build();
    }

    private StreamGraph job(DeliveryGuarantee guarantee) {
        return job(REPLAY, guarantee);
    }

    private StreamGraph job(String prefix, DeliveryGuarantee guarantee) {
        StreamExecutionEnvironment env = Replaying.environment();
        env.fromSource(source(), WatermarkStrategy.noWatermarks(), "profiles")
                .uid("source")
                .map(new Standardize(prefix.equals(REPLAY)))
                .uid("standardize")
                .sinkTo(sink(guarantee))
                .uid("sink");
        return env.getStreamGraph();
    }

    private JobID replay(DeliveryGuarantee guarantee, Resolver resolver) throws Exception {
        StreamGraph job = job(guarantee);
        replaying.rewrite(job, RANGE, new MergePlan(resolver, RANGE.toMs()));
        return replaying.submit(job);
    }

    private void awaitPassed(long profiles) throws Exception {
        Await.until(() -> profiles + " passed, not " + PASSED, () -> PASSED.get() >= profiles);
    }

    private Map<String, String> expected(Map<String, String> live) {
        Map<String, String> expected = new HashMap<>();
        for (int member = 0; member < MEMBERS; member++) {
            expected.put(member(member), "1 by new");
        }
        expected.putAll(live);
        return expected;
    }

    /** Of every third member. */
    private static Map<String, String> updates(int version) {
        Map<String, String> updates = new HashMap<>();
        for (int member = 0; member < MEMBERS; member += 3) {
            updates.put(member(member), version + " by live");
        }
        return updates;
    }

    /** The last figures may come after the job's result. */
    private void awaitMerged(Predicate<MergeFigures> expected) throws Exception {
        Await.until(() -> "merged: " + merged(), () -> expected.test(merged()));
    }

    private MergeFigures merged() {
        return replaying.merged().orElse(new MergeFigures(0, 0, 0));
    }

    /**
     * The live job's rows are in a transaction that is open while the replay writes behind them.
     */
    @Test
    void aRowThatTheReplayCouldNotSeeAndHasHiddenWins() throws Exception {
        KafkaTable.Transaction open = table.begin(NOW_MS, updates(2));
        JobID job = replay(DeliveryGuarantee.AT_LEAST_ONCE, new LiveWins());
        Await.until(
                () -> "all wait to be read back: " + merged(),
                () -> merged().unsettled() == MEMBERS);
        open.commit();
        replaying.finish(job);
        assertThat(table.table()).isEqualTo(expected(updates(2)));
        awaitMerged(new MergeFigures(updates(2).size(), updates(2).size(), 0)::equals);
    }

    /** Rows of the attempt that failed are in the table, behind those of the live job. */
    @Test
    void whatAnAttemptHasLeftBehindIsMerged() throws Exception {
        KafkaTable.Transaction open = table.begin(NOW_MS, updates(2));
        replaying.control.setRate(SLOW);
        JobID job = replay(DeliveryGuarantee.AT_LEAST_ONCE, new LiveWins());
        awaitPassed(20);
        FAIL.set(true);
        Await.until("it has failed", () -> !FAIL.get());
        open.commit();
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertThat(PASSED.get()).as("again from the beginning").isGreaterThan(MEMBERS);
        assertThat(table.table()).isEqualTo(expected(updates(2)));
    }

    /** What the tests here are for. */
    @Test
    void withoutAMergeThePastOverridesWhatIsNew() throws Exception {
        table.put(NOW_MS, updates(2));
        StreamGraph job = job(DeliveryGuarantee.EXACTLY_ONCE);
        replaying.rewrite(job, RANGE);
        replaying.finish(replaying.submit(job));
        assertThat(table.table()).isEqualTo(expected(Map.of()));
    }

    @Test
    void whatTheLiveJobHadWrittenBeforeWinsInTheEnd() throws Exception {
        table.put(NOW_MS, updates(2));
        table.put(NOW_MS, member(0), null);
        JobID job = replay(DeliveryGuarantee.AT_LEAST_ONCE, new LiveWins());
        Await.until("conflicts are met", () -> merged().conflicts() > 0);
        replaying.finish(job);
        Map<String, String> expected = expected(updates(2));
        expected.remove(member(0));
        assertThat(table.table()).isEqualTo(expected);
        awaitMerged(merged -> merged.conflicts() == updates(2).size());
    }

    /** A live job on the same cluster: new profiles come while the replay fails and is resumed. */
    @Test
    void aLiveJobBesideAReplayThatFailsAndIsResumed() throws Exception {
        JobID live = replaying.submit(job("live", DeliveryGuarantee.AT_LEAST_ONCE));
        replaying.control.setRate(SLOW);
        JobID job = replay(DeliveryGuarantee.EXACTLY_ONCE, new LiveWins());
        awaitPassed(10);
        newProfiles(2, 0, 100);
        replaying.checkpoint(job);
        awaitPassed(PASSED.get() + 5);
        FAIL.set(true);
        Await.until("it has failed", () -> !FAIL.get());
        newProfiles(3, 50, 150);
        awaitPassed(PASSED.get() + 10);
        replaying.checkpoint(job);
        String checkpoint = replaying.latestCheckpoint(job);
        replaying.cancel(job);
        newProfiles(4, 100, 200);
        Await.until("the live job has all", () -> live().equals(rowsOfLive()));
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        StreamGraph resumed = job(DeliveryGuarantee.EXACTLY_ONCE);
        replaying.rewrite(resumed, RANGE, new MergePlan(new LiveWins(), RANGE.toMs()));
        replaying.finish(replaying.submit(resumed, checkpoint));
        assertThat(table.table()).isEqualTo(answer());
        awaitMerged(merged -> merged.conflicts() > 0);

        replaying.finish(replay(DeliveryGuarantee.EXACTLY_ONCE, new LiveWins()));
        assertThat(table.table()).as("repeated").isEqualTo(answer());
        assertThat(live()).as("of the live job, each row once").isEqualTo(rowsOfLive());
        replaying.cancel(live);
    }

    private void newProfiles(int version, int from, int to) {
        Map<String, String> updates = new HashMap<>();
        for (int member = from; member < to; member++) {
            updates.put(member(member), member(member) + "," + version);
        }
        profiles.put(NOW_MS + version, updates);
    }

    private Map<String, String> answer() {
        Map<String, String> answer = expected(Map.of());
        for (int version = 2; version <= 4; version++) {
            for (int member = 50 * (version - 2); member < 50 * version; member++) {
                answer.put(member(member), version + " by new");
            }
        }
        return answer;
    }

    /** By how often it is there. */
    private Map<String, Integer> live() {
        Map<String, Integer> live = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> row : table.rows()) {
            String text = new String(row.value(), StandardCharsets.UTF_8);
            if (row.headers().lastHeader("afterbay-replay") == null && text.endsWith("new")) {
                String key = new String(row.key(), StandardCharsets.UTF_8);
                live.merge(key + " " + text, 1, Integer::sum);
            }
        }
        return live;
    }

    private static Map<String, Integer> rowsOfLive() {
        Map<String, Integer> rows = new HashMap<>();
        for (int version = 2; version <= 4; version++) {
            for (int member = 50 * (version - 2); member < 50 * version; member++) {
                rows.put(member(member) + " " + version + " by new", 1);
            }
        }
        return rows;
    }

    /** The version of a profile. */
    static final class Newest implements Resolver {
        private static final long serialVersionUID = 1;

        @Override
        public long version(OutputRow row) {
            return Long.parseLong(
                    new String(row.value(), StandardCharsets.UTF_8).split(" ", -1)[0]);
        }
    }

    @Test
    void aResolverSaysWhichIsNewer() throws Exception {
        replaying.control.setRate(SLOW);
        JobID job = replay(DeliveryGuarantee.AT_LEAST_ONCE, new Newest());
        awaitPassed(20);
        replaying.control.setRate(0);
        table.put(NOW_MS, updates(0)); // late: older than what is replayed
        Await.until(() -> "they are written again: " + merged(), () -> merged().corrections() > 0);
        table.put(NOW_MS, member(1), "1 by live");
        replaying.control.setRate(Double.POSITIVE_INFINITY);
        replaying.finish(job);
        assertThat(table.table()).isEqualTo(expected(Map.of(member(1), "1 by live")));
        awaitMerged(merged -> merged.conflicts() == 1);
    }

    /** Its PRIMARY KEY is the key, and a row that is deleted is one of the live job, too. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ", 'sink.buffer-flush.max-rows' = '50', 'sink.buffer-flush.interval' = '200 ms'"
            })
    void anUpsertTableOfSqlIsMergedByItsPrimaryKey(String buffer) throws Exception {
        KafkaTable.Transaction open = table.begin(NOW_MS, updates(2));
        table.put(NOW_MS, member(1), null);
        StreamExecutionEnvironment env = Replaying.environment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        String broker =
                "'properties.bootstrap.servers' = '" + KafkaMergeTest.broker.bootstrap() + "', ";
        tables.executeSql(
                "CREATE TABLE profiles (who STRING, version INT) WITH ("
                        + broker
                        + "'connector' = 'kafka', 'format' = 'csv', 'topic' = '"
                        + profiles.topic()
                        + "', 'scan.startup.mode' = 'latest-offset')");
        tables.executeSql(
                "CREATE TABLE results (who STRING PRIMARY KEY NOT ENFORCED, text STRING) WITH ("
                        + broker
                        + "'connector' = 'upsert-kafka', 'key.format' = 'raw', 'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY', 'topic' = '"
                        + table.topic()
                        + "'"
                        + buffer
                        + ")");
        tables.createStatementSet()
                .addInsertSql(
                        "INSERT INTO results SELECT who, CAST(MAX(version) AS STRING) || ' by new' FROM profiles GROUP BY who")
                .attachAsDataStream();
        StreamGraph job = env.getStreamGraph();
        assertThat(replaying.rewrite(job, RANGE, new MergePlan(new LiveWins(), RANGE.toMs())))
                .anyMatch(line -> line.contains("merged with") && line.contains(table.topic()));
        JobID replay = replaying.submit(job);
        Await.until(
                () -> "all wait to be read back: " + merged(),
                () -> merged().unsettled() + merged().conflicts() >= MEMBERS - 1);
        open.commit();
        replaying.finish(replay);
        Map<String, String> expected = expected(updates(2));
        expected.remove(member(1));
        assertThat(table.table()).isEqualTo(expected);
    }

    /** Otherwise each would put its own row over that of the other, again and again. */
    @Test
    void twoSinksMayWriteRowsOfOneKeyToOneTopic() throws Exception {
        StreamExecutionEnvironment env = Replaying.environment();
        DataStream<String> profiles =
                env.fromSource(source(), WatermarkStrategy.noWatermarks(), "profiles");
        profiles.map(profile -> profile + " by a")
                .sinkTo(sink(DeliveryGuarantee.AT_LEAST_ONCE))
                .name("a");
        profiles.map(profile -> profile + " by b")
                .sinkTo(sink(DeliveryGuarantee.AT_LEAST_ONCE))
                .name("b");
        StreamGraph job = env.getStreamGraph();
        replaying.rewrite(job, RANGE, new MergePlan(new LiveWins(), RANGE.toMs()));
        replaying.finish(replaying.submit(job));
        Map<String, String> rows = table.table();
        assertThat(rows).hasSize(MEMBERS);
        assertThat(rows.values()).isSubsetOf("1 by a", "1 by b");
        assertThat(merged()).isEqualTo(new MergeFigures(0, 0, 0));
    }

    @Test
    void aTableOfSqlInWhichRowsDoNotReplaceOthersIsRefused() {
        StreamExecutionEnvironment env = Replaying.environment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        String kafka =
                "'connector' = 'kafka', 'properties.bootstrap.servers' = '"
                        + broker.bootstrap()
                        + "', ";
        tables.executeSql(
                "CREATE TABLE profiles (who STRING, version INT) WITH ("
                        + kafka
                        + "'format' = 'csv', 'scan.startup.mode' = 'latest-offset', 'topic' = '"
                        + profiles.topic()
                        + "')");
        tables.executeSql(
                "CREATE TABLE events (who STRING, version INT) WITH ("
                        + kafka
                        + "'key.format' = 'csv', 'key.fields' = 'who', 'value.format' = 'csv', 'topic' = '"
                        + table.topic()
                        + "')");
        tables.createStatementSet()
                .addInsertSql("INSERT INTO events SELECT * FROM profiles")
                .attachAsDataStream();
        StreamGraph job = env.getStreamGraph();
        MergePlan merge = new MergePlan(new LiveWins(), 0);
        assertThatThrownBy(() -> replaying.rewrite(job, RANGE, merge))
                .isInstanceOf(ReplayRefusedException.class)
                .hasMessageContaining("does not replace others of its key")
                .hasMessageContaining("upsert-kafka")
                .hasMessageContaining("output of its own");
    }

    /** A merge waits for each row that it has written. */
    @Test
    void aSinkThatMayLoseRowsLosesNone() throws Exception {
        StreamGraph job = job(DeliveryGuarantee.NONE);
        replaying.rewrite(job, RANGE, new MergePlan(new LiveWins(), RANGE.toMs()));
        List<Object> guarantees = new ArrayList<>();
        for (StreamNode node : job.getStreamNodes()) {
            if (ReplayGraph.isMergeable(node)) {
                Object sink = Fields.required(node.getOperatorFactory(), "sink");
                guarantees.add(Fields.get(sink, "deliveryGuarantee"));
            }
        }
        assertThat(guarantees).containsExactly(DeliveryGuarantee.AT_LEAST_ONCE);
    }

    @Test
    void aSinkWithoutKeysIsRefused() {
        StreamExecutionEnvironment env = Replaying.environment();
        env.fromSource(source(), WatermarkStrategy.noWatermarks(), "profiles")
                .sinkTo(
                        KafkaSink.<String>builder()
                                .setBootstrapServers(broker.bootstrap())
                                .setRecordSerializer(
                                        KafkaRecordSerializationSchema.<String>builder()
                                                .setTopic(table.topic())
                                                .setValueSerializationSchema(
                                                        new SimpleStringSchema())
                                                .build())
                                .build());
        assertThatThrownBy(
                        () ->
                                replaying.rewrite(
                                        env.getStreamGraph(),
                                        RANGE,
                                        new MergePlan(new LiveWins(), 0)))
                .isInstanceOf(ReplayRefusedException.class)
                .hasMessageContaining("records have no key")
                .hasMessageContaining("upsert-kafka")
                .hasMessageContaining("output of its own");
    }

    @Test
    void rowsOfAKeyInTwoPartitionsEndTheReplay() throws Exception {
        for (int partition = 0; partition < 3; partition++) {
            table.put(partition, NOW_MS, member(0), "2 by live");
        }
        JobID job = replay(DeliveryGuarantee.AT_LEAST_ONCE, new LiveWins());
        assertThatThrownBy(() -> replaying.finish(job))
                .hasStackTraceContaining("has rows of one key in partitions")
                .hasStackTraceContaining("The failure is not recoverable");
    }

    static final class Part implements SerializationSchema<String> {
        private static final long serialVersionUID = 1;

        private final int number;

        Part(int number) {
            this.number = number;
        }

        @Override
        public byte[] serialize(String text) {
            return text.split(",", -1)[number].getBytes(StandardCharsets.UTF_8);
        }
    }

    static final class Standardize extends RichMapFunction<String, String> {
        private static final long serialVersionUID = 1;

        private final boolean isReplayed;

        Standardize(boolean isReplayed) {
            this.isReplayed = isReplayed;
        }

        @Override
        public String map(String profile) {
            if (!isReplayed) {
                return profile + " by new";
            }
            if (FAIL.compareAndSet(true, false)) {
                throw new IllegalStateException("as the test wants it");
            }
            PASSED.incrementAndGet();
            return profile + " by new";
        }
    }
}
