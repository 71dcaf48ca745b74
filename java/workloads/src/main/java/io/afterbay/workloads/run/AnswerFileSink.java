package io.afterbay.workloads.run;

import java.io.IOException;
import java.io.Serializable;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the time of every row of an answer and, if it has a file, writes it there, exactly once: a
 * checkpoint holds the length of the file, see {@link ReplayableFile}. Parallelism 1.
 *
 * @param <T> a row
 */
public final class AnswerFileSink<T> implements Sink<T>, SupportsWriterState<T, FilePosition> {
    private static final long serialVersionUID = 1;

    private final @Nullable String name;
    private final String header;
    private final Rows<T> rows;

    /** What rows are. */
    public interface Rows<T> extends Serializable {
        /** In the process of the sink. */
        Observer<T> observer();

        /** A line of the file. */
        String csv(T row);
    }

    /** Hears of rows; for the thread of the sink. */
    public interface Observer<T> {
        void row(T row);

        /** No other one comes. */
        void end();
    }

    /**
     * @param name of the file; null for none
     * @param header its first line
     */
    public AnswerFileSink(@Nullable String name, String header, Rows<T> rows) {
        this.name = name;
        this.header = header;
        this.rows = rows;
    }

    @Override
    public SinkWriter<T> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<T, FilePosition> restoreWriter(
            WriterInitContext context, Collection<FilePosition> positions) throws IOException {
        return new Writer<>(
                name,
                name == null ? null : FilePosition.open(name, header, positions),
                rows,
                rows.observer());
    }

    @Override
    public SimpleVersionedSerializer<FilePosition> getWriterStateSerializer() {
        return FilePosition.serializer();
    }

    private record Writer<T>(
            @Nullable String name,
            @Nullable ReplayableFile file,
            Rows<T> rows,
            Observer<T> observer)
            implements StatefulSinkWriter<T, FilePosition> {

        @Override
        public void write(T row, Context context) throws IOException {
            observer.row(row);
            if (file != null) {
                file.write(rows.csv(row));
            }
        }

        @Override
        public void flush(boolean endOfInput) throws IOException {
            if (file != null) {
                file.flush();
            }
            if (endOfInput) {
                observer.end();
            }
        }

        @Override
        public List<FilePosition> snapshotState(long checkpointId) throws IOException {
            if (file == null || name == null) {
                return List.of();
            }
            file.sync();
            return List.of(new FilePosition(name, file.length()));
        }

        @Override
        public void close() throws IOException {
            if (file != null) {
                file.close();
            }
        }
    }
}
