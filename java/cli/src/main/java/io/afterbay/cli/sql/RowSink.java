package io.afterbay.cli.sql;

import io.afterbay.workloads.run.ReplayableFile;
import io.afterbay.workloads.run.RowSum;
import java.io.IOException;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.types.Row;

/**
 * Writes the rows of a query to a local CSV file, exactly once, and counts them where others in the
 * same process can see it. Parallelism 1.
 */
final class RowSink implements Sink<Row>, SupportsWriterState<Row, RowPosition> {
    private static final long serialVersionUID = 1;

    private static final ConcurrentMap<String, Long> ROWS = new ConcurrentHashMap<>();
    private static final ConcurrentMap<String, String> SUMS = new ConcurrentHashMap<>();

    private final String file;
    private final String header;
    private final boolean changes;
    private final long rowsMax;
    private final boolean sums;

    /**
     * @param changes whether rows begin with the kind of change
     * @param rowsMax rows that are written; more are counted only
     * @param sums whether {@link #sum} is wanted, which a restart would make wrong
     */
    RowSink(String file, String header, boolean changes, long rowsMax, boolean sums) {
        this.sums = sums;
        this.file = file;
        this.header = header;
        this.changes = changes;
        this.rowsMax = rowsMax;
    }

    /** Rows that have come to the sink of a file, whether they were written or not. */
    static long rows(String file) {
        return ROWS.getOrDefault(file, 0L);
    }

    /** Identifies what is left of the rows of a file; empty before there are any. */
    static String sum(String file) {
        return SUMS.getOrDefault(file, "");
    }

    /** Writes rows that do not come from a task. */
    void writeAll(Iterator<Row> rows) throws IOException {
        try (Writer writer = new Writer(0, ReplayableFile.create(file, header))) {
            while (rows.hasNext()) {
                writer.add(rows.next());
            }
        }
    }

    @Override
    public SinkWriter<Row> createWriter(WriterInitContext context) throws IOException {
        return new Writer(0, ReplayableFile.create(file, header));
    }

    @Override
    public StatefulSinkWriter<Row, RowPosition> restoreWriter(
            WriterInitContext context, Collection<RowPosition> positions) throws IOException {
        for (RowPosition position : positions) {
            return new Writer(position.rows(), ReplayableFile.resume(file, position.bytes()));
        }
        return new Writer(0, ReplayableFile.create(file, header));
    }

    @Override
    public SimpleVersionedSerializer<RowPosition> getWriterStateSerializer() {
        return RowPosition.serializer();
    }

    private final class Writer implements StatefulSinkWriter<Row, RowPosition> {
        private final ReplayableFile out;
        private final RowSum left = new RowSum();
        private long rows;

        Writer(long rows, ReplayableFile out) {
            this.rows = rows;
            this.out = out;
        }

        @Override
        public void write(Row row, Context context) throws IOException {
            add(row);
        }

        private void add(Row row) throws IOException {
            if (rows++ < rowsMax) {
                out.write(Csv.line(row, changes));
            }
            if (sums) {
                count(row);
            }
        }

        /** A row that is taken back leaves nothing behind. */
        private void count(Row row) {
            String line = Csv.line(row, false);
            switch (row.getKind()) {
                case INSERT, UPDATE_AFTER -> left.add(line);
                case DELETE, UPDATE_BEFORE -> left.remove(line);
            }
        }

        @Override
        public void flush(boolean endOfInput) throws IOException {
            publish();
        }

        private void publish() throws IOException {
            out.flush();
            ROWS.put(file, rows);
            SUMS.put(file, left.toString());
        }

        @Override
        public List<RowPosition> snapshotState(long checkpointId) throws IOException {
            out.sync();
            return List.of(new RowPosition(rows, out.length()));
        }

        @Override
        public void close() throws IOException {
            publish();
            out.close();
        }
    }
}
