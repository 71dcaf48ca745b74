package io.afterbay.spark.workloads;

import io.afterbay.workloads.microbatch.StreamQuery;
import io.afterbay.workloads.run.RowSum;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/**
 * Keeps the sum of the rows of each batch. A batch that comes again replaces what it was before, as
 * in a sink that is idempotent by batch id. Tasks sum their rows, and the driver the sums.
 */
final class ExactSink implements VoidFunction2<Dataset<Row>, Long> {
    private static final long serialVersionUID = 1;

    private final StreamQuery query;
    private final Map<Long, RowSum> batches = new ConcurrentHashMap<>();

    ExactSink(StreamQuery query) {
        this.query = query;
    }

    @Override
    public void call(Dataset<Row> rows, Long batch) {
        RowSum sum = new RowSum();
        ordered(rows)
                .mapPartitions(
                        (MapPartitionsFunction<Row, String>) ExactSink::sumOf, Encoders.STRING())
                .collectAsList()
                .forEach(parts -> sum.addAll(numbers(parts)));
        batches.put(batch, sum);
    }

    /** Rows of a query with an order come in it, in one task. */
    private Dataset<Row> ordered(Dataset<Row> rows) {
        return query == StreamQuery.CM1 ? rows.repartition(1).sortWithinPartitions("total") : rows;
    }

    private static Iterator<String> sumOf(Iterator<Row> rows) {
        RowSum sum = new RowSum();
        rows.forEachRemaining(row -> sum.add(row.mkString(",")));
        return List.of(Arrays.toString(sum.parts())).iterator();
    }

    /** Of their text, with brackets around. */
    private static long[] numbers(String parts) {
        return Stream.of(parts.substring(1, parts.length() - 1).split(", ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
    }

    /** Of all batches. */
    RowSum sum() {
        RowSum all = new RowSum();
        batches.values().forEach(sum -> all.addAll(sum.parts()));
        return all;
    }
}
