package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.ReplayableFile;
import io.afterbay.workloads.run.VersionedSerializer;
import java.io.DataInputStream;
import java.io.DataOutputStream;
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
 * ReplayableFile}. A job that starts from the savepoint of another but writes to another file
 * writes there what comes after the savepoint. Parallelism 1.
 */
public final class RankingFile
        implements Sink<RankingRow>, SupportsWriterState<RankingRow, RankingFile.Position> {
    private static final long serialVersionUID = 1;

    /** How far which file was written. */
    public record Position(String file, long bytes) {
        private void write(DataOutputStream out) throws IOException {
            out.writeUTF(file);
            out.writeLong(bytes);
        }

        private static Position read(DataInputStream in) throws IOException {
            return new Position(in.readUTF(), in.readLong());
        }
    }

    private final String name;

    public RankingFile(String name) {
        this.name = name;
    }

    @Override
    public SinkWriter<RankingRow> createWriter(WriterInitContext context) throws IOException {
        return new Writer(name, ReplayableFile.create(name, RankingRow.HEADER));
    }

    @Override
    public StatefulSinkWriter<RankingRow, Position> restoreWriter(
            WriterInitContext context, Collection<Position> positions) throws IOException {
        for (Position position : positions) {
            if (position.file().equals(name)) {
                return new Writer(name, ReplayableFile.resume(name, position.bytes()));
            }
        }
        return new Writer(name, ReplayableFile.create(name, RankingRow.HEADER));
    }

    @Override
    public SimpleVersionedSerializer<Position> getWriterStateSerializer() {
        return new VersionedSerializer<>(Position::write, Position::read);
    }

    private record Writer(String name, ReplayableFile file)
            implements StatefulSinkWriter<RankingRow, Position> {

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
        public List<Position> snapshotState(long checkpointId) throws IOException {
            file.sync();
            return List.of(new Position(name, file.length()));
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
