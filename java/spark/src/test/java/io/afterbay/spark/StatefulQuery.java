package io.afterbay.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.window;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;

/**
 * Two stateful operators: rows are counted and summed in windows of two seconds, each id once. A
 * batch has {@link #ROWS} numbers and is a second; every seventh is a repetition of ids that are
 * six batches old, so whoever loses state counts too much.
 */
final class StatefulQuery {
    static final int ROWS = 50;
    private static final int PERIOD = 350;
    private static final int DISTINCT = 300;

    private static final int START_MS = 2_000; // 0 would be late from the beginning
    private static final int STEP_MS = 1_000;

    private final String checkpoint;
    private final TransactionalSink sink;
    private final QueryKind kind;
    private final Function<SparkSession, Dataset<Row>> numbers;

    StatefulQuery(Path checkpoint, TransactionalSink sink) {
        this(QueryKind.WINDOWS, checkpoint.toString(), sink, StatefulQuery::generated);
    }

    StatefulQuery(
            QueryKind kind,
            String checkpoint,
            TransactionalSink sink,
            Function<SparkSession, Dataset<Row>> numbers) {
        this.kind = kind;
        this.checkpoint = checkpoint;
        this.sink = sink;
        this.numbers = numbers;
    }

    /** Batch n has step n, however often it runs. */
    static Dataset<Row> generated(SparkSession session) {
        return session.readStream()
                .format("rate-micro-batch")
                .option("rowsPerBatch", ROWS)
                .option("numPartitions", 2)
                .option("startTimestamp", START_MS)
                .option("advanceMillisPerBatch", STEP_MS)
                .load();
    }

    /**
     * A file is a step, and a batch has one or some, as they are there, or twice as many after a
     * crash: ends of batches are of the moment. Repetitions are six steps apart, so never in one
     * batch, where any of them may count.
     */
    static Function<SparkSession, Dataset<Row>> files(Path directory, int stepsMax) {
        return session ->
                session.readStream()
                        .schema("value BIGINT, timestamp TIMESTAMP")
                        .option("maxFilesPerTrigger", stepsMax)
                        .csv(directory.toString());
    }

    /**
     * A message is a step, and a batch has one or some. They are in one partition, so that none is
     * late, and up to two tasks read them.
     */
    static Function<SparkSession, Dataset<Row>> kafka(
            String bootstrap, String topic, int stepsMax) {
        return session ->
                session.readStream()
                        .format("kafka")
                        .option("kafka.bootstrap.servers", bootstrap)
                        .option("subscribe", topic)
                        .option("startingOffsets", "earliest")
                        .option("maxOffsetsPerTrigger", stepsMax)
                        .option("minPartitions", 2)
                        .load()
                        .selectExpr(
                                "explode(split(trim(TRAILING '\n' FROM string(value)), '\n')) AS line")
                        .selectExpr(
                                "bigint(split(line, ',')[0]) AS value",
                                "timestamp(split(line, ',')[1]) AS timestamp");
    }

    /** The content of a file or of a message, which is a step. */
    static String file(int step) {
        StringBuilder lines = new StringBuilder();
        Instant time = Instant.ofEpochMilli(START_MS + (long) step * STEP_MS);
        for (int i = 0; i < ROWS; i++) {
            lines.append(step * ROWS + i).append(',').append(time).append('\n');
        }
        return lines.toString();
    }

    /** Windows whose rows are out after so many steps. */
    static int windows(int steps) {
        return (steps - 1) / 2;
    }

    StreamingQuery start(SparkSession session) throws TimeoutException {
        return start(session, Trigger.ProcessingTime(0));
    }

    StreamingQuery start(SparkSession session, Trigger trigger) throws TimeoutException {
        return kind.of(numbers.apply(session))
                .writeStream()
                .outputMode("append")
                .option("checkpointLocation", checkpoint)
                .trigger(trigger)
                .foreachBatch(sink)
                .start();
    }

    static Dataset<Row> ids(Dataset<Row> numbers) {
        return numbers.withWatermark("timestamp", "0 seconds")
                .withColumn(
                        "id",
                        col("value")
                                .minus(col("value").mod(PERIOD))
                                .plus(col("value").mod(PERIOD).mod(DISTINCT)))
                .dropDuplicates("id");
    }

    static Dataset<Row> counts(Dataset<Row> numbers) {
        return ids(numbers)
                .groupBy(window(col("timestamp"), "2 seconds"))
                .agg(count(lit(1)).as("count"), sum("value").as("sum"))
                .selectExpr("unix_millis(window.start) / 2000", "count", "sum");
    }

    /** Runs until the sink has that batch. */
    void runTo(SparkSession session, long batch) throws Exception {
        StreamingQuery query = start(session);
        try {
            while (sink.last() < batch) {
                if (query.awaitTermination(20)) {
                    throw new AssertionError("the query ended by itself");
                }
            }
        } finally {
            query.stop();
        }
    }

    /** Runs until it fails, and says why. */
    StreamingQueryException runToFailure(SparkSession session) throws Exception {
        StreamingQuery query = start(session);
        try {
            query.awaitTermination();
            throw new AssertionError("the query ended, and should fail");
        } catch (StreamingQueryException e) {
            return e;
        }
    }

    /** Whether it is the first with its id, which it is itself then. */
    static boolean isFirst(long value) {
        return value % PERIOD < DISTINCT;
    }

    /** What plain Java says of the first windows. */
    static List<String> expected(int windows) {
        List<String> result = new ArrayList<>();
        for (int w = 0; w < windows; w++) {
            long count = 0;
            long sum = 0;
            for (long value = 2L * w * ROWS; value < 2L * (w + 1) * ROWS; value++) {
                count += isFirst(value) ? 1 : 0;
                sum += isFirst(value) ? value : 0;
            }
            result.add("[" + (double) (w + 1) + "," + count + "," + sum + "]");
        }
        return result;
    }
}
