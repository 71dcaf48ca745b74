package io.afterbay.spark.workloads;

import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;

/** See {@link RecordSource}. */
final class RecordStream implements MicroBatchStream, SupportsAdmissionControl {
    private final Columns columns;
    private final Pace pace;
    private final int readers;

    RecordStream(Columns columns, Pace pace, int readers) {
        this.columns = columns;
        this.pace = pace;
        this.readers = readers;
    }

    /** How many records were before. */
    private static final class Position extends Offset {
        private final long records;

        Position(long records) {
            this.records = records;
        }

        static long of(Offset offset) {
            return Long.parseLong(offset.json());
        }

        @Override
        public String json() {
            return Long.toString(records);
        }
    }

    /** A part of a batch: from the first record in steps to below the end. */
    private record Part(long first, int step, long end) implements InputPartition {}

    /** For executors. */
    private record Factory(Columns columns) implements PartitionReaderFactory {
        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new Reader(columns, (Part) partition);
        }
    }

    private static final class Reader implements PartitionReader<InternalRow> {
        private final Columns.Rows rows;
        private final long lost;
        private final Part part;
        private long number;

        Reader(Columns columns, Part part) {
            this.rows = columns.rows();
            this.lost = columns.lost();
            this.part = part;
            this.number = part.first - part.step;
        }

        @Override
        public boolean next() {
            number += part.step;
            if (number == lost) {
                number += part.step;
            }
            return number < part.end;
        }

        @Override
        public InternalRow get() {
            return rows.at(number);
        }

        @Override
        public void close() {}
    }

    @Override
    public Offset initialOffset() {
        return new Position(0);
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new Position(Long.parseLong(json));
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("Spark asks with a limit");
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        try {
            return new Position(pace.end(Position.of(start)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            // Spark takes this for the end of the query, which it is.
            throw new UncheckedIOException(new InterruptedIOException());
        }
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        InputPartition[] parts = new InputPartition[readers];
        for (int i = 0; i < readers; i++) {
            parts[i] = new Part(Position.of(start) + i, readers, Position.of(end));
        }
        return parts;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new Factory(columns);
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}
}
