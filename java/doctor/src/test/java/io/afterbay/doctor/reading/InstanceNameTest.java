package io.afterbay.doctor.reading;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class InstanceNameTest {
    private static final String JOB = "0123456789abcdef0123456789abcdef";
    private static final String HASH = "fedcba9876543210fedcba9876543210";
    private static final String UUID = "3b0b8f3c-1d1e-4c4e-9a6b-0a1b2c3d4e5f";
    private static final String FOLDER =
            "job_" + JOB + "_op_WindowOperator_" + HASH + "__3_16__uuid_" + UUID;

    private static void assertName(String path, Engine engine, String stage, String instance) {
        InstanceName name = InstanceName.of(Path.of(path));
        assertThat(name.engine()).isEqualTo(engine);
        assertThat(name.stage()).isEqualTo(stage);
        assertThat(name.instance()).isEqualTo(instance);
    }

    @Test
    void flinkTellsOperatorAndSubtask() {
        String stage = "WindowOperator fedcba";
        assertName("/local/tm_1/tmp/" + FOLDER + "/db/LOG", Engine.FLINK, stage, "3/16");
        assertName("/log/local_tm_1_tmp_" + FOLDER + "_db_LOG", Engine.FLINK, stage, "3/16");
        assertName(
                "/log/local_tm_1_tmp_" + FOLDER + "_db_LOG.old.1763866801010000",
                Engine.FLINK,
                stage,
                "3/16");
    }

    /** A restarted task opens a database of another uuid. */
    @Test
    void flinkSubtasksAreTheSameAfterARestart() {
        InstanceName before = InstanceName.of(Path.of("/local/" + FOLDER + "/db/LOG"));
        InstanceName after =
                InstanceName.of(Path.of("/local/" + FOLDER.replace("3b0b", "ffff") + "/db/LOG"));
        assertThat(after.key()).isEqualTo(before.key());
        InstanceName other =
                InstanceName.of(Path.of("/local/" + FOLDER.replace("__3_", "__4_") + "/db/LOG"));
        assertThat(other.key()).isNotEqualTo(before.key());
    }

    @Test
    void kafkaStreamsTellsStoreAndTask() {
        assertName(
                "/state/word-count/0_3/rocksdb/counts/LOG", Engine.KAFKA_STREAMS, "counts", "0_3");
        for (String segment : new String[] {".1763866800000", ":1763866800000", "-201811221200"}) {
            assertName(
                    "/state/word-count/1_12/sums/sums" + segment + "/LOG.old.17",
                    Engine.KAFKA_STREAMS,
                    "sums",
                    "1_12");
        }
        String versioned = "/state/word-count/0_0/prices/prices";
        assertName(versioned + "-segments/LOG", Engine.KAFKA_STREAMS, "prices", "0_0 segments");
        assertName(
                versioned + "-latestValues/LOG",
                Engine.KAFKA_STREAMS,
                "prices",
                "0_0 latestValues");
    }

    /** The next segment begins where one ends; other stores and applications are others. */
    @Test
    void segmentsOfAWindowStoreOfKafkaStreamsAreOneInstance() {
        String store = "/state/word-count/0_1/windows/windows.";
        InstanceName first = InstanceName.of(Path.of(store + "1795673580000/LOG"));
        assertThat(InstanceName.of(Path.of(store + "1795673640000/LOG"))).isEqualTo(first);
        assertThat(first.origin()).isEqualTo(new Origin("word-count", "/state"));
        assertThat(
                        Stream.of(
                                        "/state/other/0_1/windows/windows.1795673580000/LOG",
                                        "/state/word-count/0_2/windows/windows.1795673580000/LOG",
                                        "/state/word-count/0_1/sums/sums.1795673580000/LOG",
                                        "/state/word-count/0_1/rocksdb/counts/LOG")
                                .map(path -> InstanceName.of(Path.of(path)).key()))
                .doesNotHaveDuplicates()
                .doesNotContain(first.key());
    }

    @Test
    void othersAreNamedByFolder() {
        assertName("/data/app/shard-7/LOG", Engine.ROCKSDB, "app", "shard-7");
        assertName("/data/app/shard-7/rocksdb.LOG", Engine.ROCKSDB, "app", "shard-7");
        assertName("/logs/data_app_shard-7_LOG", Engine.ROCKSDB, "logs", "data_app_shard-7");
        assertName("/LOG", Engine.ROCKSDB, "", "");
        assertName("/data/v1_2/db/db-7/LOG", Engine.ROCKSDB, "db", "db-7");
    }

    @Test
    void packedLogsBelongToTheSameInstance() {
        InstanceName current = InstanceName.of(Path.of("/data/app/shard-7/LOG"));
        assertThat(InstanceName.of(Path.of("/data/app/shard-7/LOG.gz"))).isEqualTo(current);
        assertThat(InstanceName.of(Path.of("/data/app/shard-7/LOG.old.17.gz"))).isEqualTo(current);
    }

    @Test
    void jobAndWorkerAreTold() {
        assertOrigin("/local/tm_a/tmp/" + FOLDER + "/db/LOG", "01234567", "tm_a");
        assertOrigin("/disk2/tm_a/tmp/" + FOLDER + "/db/LOG", "01234567", "tm_a");
        assertOrigin("/worker-1/log/local_tm_a_" + FOLDER + "_db_LOG", "01234567", "/worker-1/log");
        assertOrigin("/state/word-count/0_3/rocksdb/counts/LOG", "word-count", "/state");
        assertOrigin("/data/app/shard-7/LOG", "", "");
    }

    private static void assertOrigin(String path, String job, String worker) {
        assertThat(InstanceName.of(Path.of(path)).origin()).isEqualTo(new Origin(job, worker));
    }
}
