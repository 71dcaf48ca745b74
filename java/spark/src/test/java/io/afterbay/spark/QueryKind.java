package io.afterbay.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.Trigger;

/**
 * Queries with different kinds of state, over the same numbers. Their rows do not depend on where
 * batches end.
 */
enum QueryKind {
    /** Two stateful operators: {@link StatefulQuery}'s own. */
    WINDOWS(2, 1) {
        @Override
        Dataset<Row> of(Dataset<Row> numbers) {
            return StatefulQuery.counts(numbers);
        }

        @Override
        List<String> expected(int steps) {
            return StatefulQuery.expected(StatefulQuery.windows(steps));
        }
    },

    /** {@code transformWithState}: each tenth number of each of seven keys. */
    PROCESSOR(1, 5) {
        @Override
        Dataset<Row> of(Dataset<Row> numbers) {
            return numbers.selectExpr("value % 7 AS k")
                    .as(Encoders.LONG())
                    .groupByKey((MapFunction<Long, Long>) key -> key, Encoders.LONG())
                    .transformWithState(
                            new EachTenth(),
                            TimeMode.None(),
                            OutputMode.Append(),
                            Encoders.STRING(),
                            Encoders.STRING())
                    .toDF();
        }

        @Override
        List<String> expected(int steps) {
            List<String> result = new ArrayList<>();
            long[] counts = new long[7];
            for (int value = 0; value < steps * StatefulQuery.ROWS; value++) {
                int key = value % counts.length;
                if (++counts[key] % 10 == 0) {
                    result.add("[" + key + ":" + counts[key] + "]");
                }
            }
            return result;
        }
    },

    /** Each tenth number with that of the next step: four stores in each partition. */
    JOIN(1, 5) {
        @Override
        Dataset<Row> of(Dataset<Row> numbers) {
            Dataset<Row> tenths = numbers.where("value % 10 = 0");
            Dataset<Row> left = tenths.withWatermark("timestamp", "0 seconds");
            Dataset<Row> right =
                    tenths.select(
                                    col("value").minus(StatefulQuery.ROWS).as("before"),
                                    col("timestamp").as("later"))
                            .withWatermark("later", "0 seconds");
            return left.join(
                            right,
                            expr(
                                    "value = before AND later >= timestamp"
                                            + " AND later <= timestamp + INTERVAL 2 SECONDS"))
                    .select("value", "before");
        }

        @Override
        List<String> expected(int steps) {
            return LongStream.range(0, (long) (steps - 1) * StatefulQuery.ROWS)
                    .filter(v -> v % 10 == 0)
                    .mapToObj(v -> "[" + v + "," + v + "]")
                    .toList();
        }
    },

    /** {@link #WINDOWS} with source, state and sink in one task. */
    ONE_PARTITION(2, 1) {
        @Override
        Dataset<Row> of(Dataset<Row> numbers) {
            return StatefulQuery.counts(numbers.coalesce(1));
        }

        @Override
        List<String> expected(int steps) {
            return WINDOWS.expected(steps);
        }

        @Override
        Map<String, String> settings() {
            return Map.of("spark.sql.shuffle.partitions", "1");
        }
    },

    /** Each id once, however often it comes; of ten, one is looked at. */
    FIRST_ONES(7, 30) {
        @Override
        Dataset<Row> of(Dataset<Row> numbers) {
            return StatefulQuery.ids(numbers).where("id % 10 = 0").select("id");
        }

        @Override
        List<String> expected(int steps) {
            return LongStream.range(0, (long) steps * StatefulQuery.ROWS)
                    .filter(v -> v % 10 == 0 && StatefulQuery.isFirst(v))
                    .mapToObj(v -> "[" + v + "]")
                    .toList();
        }
    },

    /** {@link #FIRST_ONES}, in runs that end by themselves when their input is used up. */
    AVAILABLE_NOW(7, 30) {
        @Override
        Dataset<Row> of(Dataset<Row> numbers) {
            return FIRST_ONES.of(numbers);
        }

        @Override
        List<String> expected(int steps) {
            return FIRST_ONES.expected(steps);
        }

        @Override
        Trigger trigger() {
            return Trigger.AvailableNow();
        }
    };

    private final int steps;
    private final int rows;

    /**
     * @param rows are those of so many steps
     */
    QueryKind(int steps, int rows) {
        this.steps = steps;
        this.rows = rows;
    }

    abstract Dataset<Row> of(Dataset<Row> numbers);

    /** What plain Java says, in any order. */
    abstract List<String> expected(int steps);

    Trigger trigger() {
        return Trigger.ProcessingTime(0);
    }

    /** Of its session. */
    Map<String, String> settings() {
        return Map.of();
    }

    /** So many have gone into that many rows, or a few more. */
    int steps(int rowCount) {
        return (int) ((long) rowCount * steps / rows);
    }
}
