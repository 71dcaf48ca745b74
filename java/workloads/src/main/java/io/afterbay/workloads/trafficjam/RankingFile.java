package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.FilePosition;
import io.afterbay.workloads.run.ReplayableFile;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * The result as one local CSV file, exactly once: a checkpoint holds its length, see {@link
 * ReplayableFile}. Parallelism 1.
 */
public final class RankingFile
        implements Sink<RankingRow>, SupportsWriterState<RankingRow, FilePosition> {
    private static final long serialVersionUID = 1;

    private final String name;

    public RankingFile(String name) {
        this.name = name;
    }

    @Override
    public SinkWriter<RankingRow> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<RankingRow, FilePosition> restoreWriter(
            WriterInitContext context, Collection<FilePosition> positions) throws IOException {
        return new Writer(name, FilePosition.open(name, RankingRow.HEADER, positions));
    }

    @Override
    public SimpleVersionedSerializer<FilePosition> getWriterStateSerializer() {
        return FilePosition.serializer();
    }

    private record Writer(String name, ReplayableFile file)
            implements StatefulSinkWriter<RankingRow, FilePosition> {

        @Override
        public void write(RankingRow row, Context context) throws IOException {
            file.write(row.csv());
            if (row.rank() == RankingRow.STREETS) {
                file.flush();
            }
        }

        @Override
        public void flush(boolean endOfInput) throws IOException {
            file.flush();
        }

        @Override
        public List<FilePosition> snapshotState(long checkpointId) throws IOException {
            file.sync();
            return List.of(new FilePosition(name, file.length()));
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
