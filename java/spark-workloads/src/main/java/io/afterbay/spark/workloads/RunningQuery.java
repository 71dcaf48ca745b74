package io.afterbay.spark.workloads;

import io.afterbay.dfs.SlowFileSystem;
import io.afterbay.workloads.microbatch.Answers;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.apache.spark.sql.streaming.Trigger;

/** A query at a rate that is known, from its start until all its records are in the sink. */
final class RunningQuery implements AutoCloseable {
    private static final long TICK_MILLIS = 100;

    /** How long records come in addition, each time, if there are too few batches. */
    private static final long MORE_MILLIS = 1000;

    /** How many times as long as planned they come, at most, or for how long, if that is more. */
    private static final int LONGER_MAX = 10;

    private static final long LONGER_MAX_MILLIS = 180_000;

    private final MicroBatchPlan plan;
    private final Pace pace;
    private final ExactSink sink;
    private final SnapshotCounts snapshots;
    private final StreamingQuery query;

    private RunningQuery(
            MicroBatchPlan plan,
            Pace pace,
            ExactSink sink,
            SnapshotCounts snapshots,
            StreamingQuery query) {
        this.plan = plan;
        this.pace = pace;
        this.sink = sink;
        this.snapshots = snapshots;
        this.query = query;
    }

    static RunningQuery start(MicroBatchPlan plan, LocalSpark spark) throws RunFailure {
        Pace pace = Pace.register(plan.checkpoint(), new Pace(plan));
        ExactSink sink = new ExactSink(plan.query());
        SnapshotCounts snapshots = new SnapshotCounts(plan.checkpoint());
        try {
            StreamingQuery query =
                    Queries.of(plan.query(), records(plan, spark.session()))
                            .writeStream()
                            .outputMode("append")
                            .option("checkpointLocation", location(plan))
                            .trigger(
                                    Trigger.ProcessingTime(plan.triggerMs(), TimeUnit.MILLISECONDS))
                            .foreachBatch(counted(sink, snapshots))
                            .start();
            return new RunningQuery(plan, pace, sink, snapshots, query);
        } catch (Exception e) { // Scala's methods declare none
            throw new RunFailure(e);
        }
    }

    /** The sink runs the tasks of the batch. */
    private static VoidFunction2<Dataset<Row>, Long> counted(
            ExactSink sink, SnapshotCounts snapshots) {
        return (rows, batch) -> {
            sink.call(rows, batch);
            snapshots.ended(batch);
        };
    }

    private static Supplier<Dataset<Row>> records(MicroBatchPlan plan, SparkSession session) {
        Answers answers = new Answers(plan.seed(), plan.recordsPerS(), plan.records());
        long lost = plan.losesRecord() ? answers.recordThatMatters(plan.query()) : -1;
        return () ->
                session.readStream()
                        .format(RecordSource.class.getName())
                        .option("query", plan.query().name())
                        .option("seed", plan.seed())
                        .option("recordsPerS", plan.recordsPerS())
                        .option("lost", lost)
                        .option("pace", plan.checkpoint())
                        .option("readers", LocalSpark.processors())
                        .load();
    }

    private static String location(MicroBatchPlan plan) {
        return (plan.slow() ? SlowFileSystem.SCHEME : "file") + "://" + plan.checkpoint();
    }

    /**
     * Returns when all records are due. They come for longer than planned as long as there are too
     * few batches, up to a limit: a query that never gets on comes to its end, too.
     *
     * @param areEnough whether the batches are that have ended
     * @param onCount told once, when batches begin to count
     */
    void awaitEndOfSchedule(Predicate<BatchFigures> areEnough, Runnable onCount, Runnable tick)
            throws RunFailure, InterruptedException {
        boolean isCounting = false;
        while (!isOver(areEnough)) {
            try {
                if (query.awaitTermination(TICK_MILLIS)) {
                    throw new RunFailure(new IllegalStateException("the query ended by itself"));
                }
            } catch (StreamingQueryException e) {
                throw new RunFailure(e);
            }
            if (!isCounting && Pace.micros() >= pace.countsFromMicros()) {
                isCounting = true;
                onCount.run();
            }
            tick.run();
        }
        if (!isCounting) {
            onCount.run();
        }
    }

    private boolean isOver(Predicate<BatchFigures> areEnough) {
        if (!pace.isOver()) {
            return false;
        }
        long millisMax = Math.max(LONGER_MAX * plan.countedMs(), LONGER_MAX_MILLIS);
        boolean isLate =
                Pace.micros() - pace.countsFromMicros() > TimeUnit.MILLISECONDS.toMicros(millisMax);
        if (isLate || areEnough.test(figures())) {
            return true;
        }
        pace.goOn(MORE_MILLIS);
        return false;
    }

    /** Returns when all rows are in the sink. */
    void awaitRows() throws RunFailure {
        try {
            query.processAllAvailable();
        } catch (Exception e) { // Scala's methods declare none
            throw new RunFailure(e);
        }
    }

    BatchFigures figures() {
        List<Batch> batches =
                Stream.of(progress()).flatMap(progress -> Batch.of(progress).stream()).toList();
        return new BatchFigures(batches, pace, plan.partitions(), snapshots);
    }

    private StreamingQueryProgress[] progress() {
        return query.recentProgress();
    }

    Pace pace() {
        return pace;
    }

    ExactSink sink() {
        return sink;
    }

    @Override
    public void close() {
        Pace.remove(plan.checkpoint());
        try {
            query.stop();
        } catch (TimeoutException e) {
            throw new IllegalStateException("the query does not stop", e);
        }
    }
}
