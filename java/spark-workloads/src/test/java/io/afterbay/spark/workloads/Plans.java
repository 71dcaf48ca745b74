package io.afterbay.spark.workloads;

import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.microbatch.StreamQuery;
import java.nio.file.Path;
import java.util.Map;

/** Runs as the tests want them. */
final class Plans {
    /** More than come in the time that is planned. */
    static final int BATCHES_MIN = 3;

    private static final String STATE = "spark.sql.streaming.stateStore.";

    /** RocksDB with changelogs in format 2. */
    static final Map<String, String> CHANGELOG =
            Map.of(
                    STATE + "providerClass",
                    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
                    STATE + "rocksdb.changelogCheckpointing.enabled",
                    "true",
                    STATE + "checkpointFormatVersion",
                    "2");

    private Plans() {}

    static MicroBatchPlan plan(StreamQuery query, Path checkpoint) {
        return plan(query, checkpoint, 100, 0, false);
    }

    static MicroBatchPlan search(StreamQuery query, Path checkpoint, long limitMs) {
        return plan(query, checkpoint, 0, 0, false, limitMs);
    }

    static MicroBatchPlan plan(
            StreamQuery query, Path checkpoint, int rate, long deadlineMs, boolean loses) {
        return plan(query, checkpoint, rate, deadlineMs, loses, 0);
    }

    private static MicroBatchPlan plan(
            StreamQuery query,
            Path checkpoint,
            int rate,
            long deadlineMs,
            boolean loses,
            long limitMs) {
        return new MicroBatchPlan(
                query,
                checkpoint.toString(),
                5,
                rate,
                2,
                0,
                false,
                deadlineMs,
                loses,
                CHANGELOG,
                limitMs,
                200,
                800,
                BATCHES_MIN);
    }
}
