package io.afterbay.spark.workloads;

import static org.apache.spark.sql.functions.avg;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.window;

import io.afterbay.workloads.microbatch.Answers;
import io.afterbay.workloads.microbatch.EventTimes;
import io.afterbay.workloads.microbatch.StreamQuery;
import java.util.function.Supplier;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** The queries, with the columns of {@link Answers}. */
final class Queries {
    private static final String LATENESS = EventTimes.LATENESS_MS + " milliseconds";

    private Queries() {}

    /**
     * A query.
     *
     * @param records of {@link Columns}, a source of its own with each call
     */
    static Dataset<Row> of(StreamQuery query, Supplier<Dataset<Row>> records) {
        return switch (query) {
            case LR2 -> lr2(timed(records), timed(records));
            case LR4 -> lr4(timed(records));
            case CM1 -> cm1(timed(records));
            case CM2 -> cm2(timed(records));
        };
    }

    private static Dataset<Row> timed(Supplier<Dataset<Row>> records) {
        return records.get().withWatermark("time", LATENESS);
    }

    /** A range of Linear Road's streams is a bound of time for Spark's join. */
    private static Dataset<Row> lr2(Dataset<Row> reports, Dataset<Row> others) {
        Dataset<Row> before = others.selectExpr("vehicle AS otherVehicle", "time AS otherTime");
        String range = "INTERVAL " + StreamQuery.LR2.rangeSeconds() + " SECONDS";
        return reports.join(
                        before,
                        expr(
                                "vehicle = otherVehicle AND otherTime <= time AND otherTime >= time - "
                                        + range))
                .selectExpr(
                        "unix_micros(time)",
                        "vehicle",
                        "speed",
                        "highway",
                        "lane",
                        "direction",
                        "position DIV 5280");
    }

    private static Dataset<Row> lr4(Dataset<Row> reports) {
        return reports.withColumn("segment", expr("position DIV 5280"))
                .groupBy(windows(StreamQuery.LR4), col("highway"), col("direction"), col("segment"))
                .agg(count(lit(1)).as("vehicles"))
                .selectExpr(START, "highway", "direction", "segment", "vehicles");
    }

    /** Spark sorts no aggregates that are complete: see {@link ExactSink}. */
    private static Dataset<Row> cm1(Dataset<Row> events) {
        return events.groupBy(windows(StreamQuery.CM1), col("category"))
                .agg(sum("cpu").as("total"))
                .selectExpr(START, "category", "total");
    }

    private static Dataset<Row> cm2(Dataset<Row> events) {
        return events.filter("eventType = 1")
                .groupBy(windows(StreamQuery.CM2), col("job"))
                .agg(avg("cpu").as("mean"))
                .selectExpr(START, "job", "mean");
    }

    private static final String START = "unix_micros(window.start)";

    private static Column windows(StreamQuery query) {
        return window(
                col("time"), query.rangeSeconds() + " seconds", query.slideSeconds() + " seconds");
    }
}
