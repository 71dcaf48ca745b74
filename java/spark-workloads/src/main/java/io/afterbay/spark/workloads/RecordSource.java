package io.afterbay.spark.workloads;

import io.afterbay.workloads.microbatch.StreamQuery;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's source of the records of a query, by the name of this class. An offset is a number of
 * records, and a record is a function of its number, so any batch can come again; when they come
 * says a {@link Pace}.
 *
 * <pre>
 *   query, seed, recordsPerS, lost   see {@link Columns}
 *   pace                             its name
 *   readers                          tasks that read a batch
 * </pre>
 */
public final class RecordSource implements TableProvider {
    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return columns(options).schema();
    }

    private static Columns columns(CaseInsensitiveStringMap options) {
        return new Columns(
                StreamQuery.valueOf(required(options, "query")),
                options.getLong("seed", 0),
                options.getInt("recordsPerS", 1),
                options.getLong("lost", -1));
    }

    private static String required(CaseInsensitiveStringMap options, String key) {
        return Objects.requireNonNull(options.get(key), key);
    }

    @Override
    public Table getTable(
            StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new Records(columns(new CaseInsensitiveStringMap(properties)));
    }

    private record Records(Columns content) implements Table, SupportsRead {
        @Override
        public String name() {
            return "records of " + content.query().label();
        }

        @Override
        public StructType schema() {
            return content.schema();
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return () ->
                    new RecordScan(
                            content,
                            Pace.named(required(options, "pace")),
                            options.getInt("readers", 1));
        }
    }

    private record RecordScan(Columns columns, Pace pace, int readers) implements Scan {
        @Override
        public StructType readSchema() {
            return columns.schema();
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
            return new RecordStream(columns, pace, readers);
        }
    }
}
