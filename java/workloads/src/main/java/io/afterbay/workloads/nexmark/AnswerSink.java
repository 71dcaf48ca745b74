package io.afterbay.workloads.nexmark;

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
import org.jspecify.annotations.Nullable;

/**
 * Takes the time of every row and, if it has a file, writes it there, exactly once: a checkpoint
 * holds the length of the file, see {@link ReplayableFile}. Parallelism 1.
 */
final class AnswerSink implements Sink<Answer>, SupportsWriterState<Answer, AnswerSink.Position> {
    private static final long serialVersionUID = 1;

    /** How far which file was written. */
    record Position(String file, long bytes) {
        private void write(DataOutputStream out) throws IOException {
            out.writeUTF(file);
            out.writeLong(bytes);
        }

        private static Position read(DataInputStream in) throws IOException {
            return new Position(in.readUTF(), in.readLong());
        }
    }

    private final NexmarkOptions options;

    AnswerSink(NexmarkOptions options) {
        this.options = options;
    }

    @Override
    public SinkWriter<Answer> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<Answer, Position> restoreWriter(
            WriterInitContext context, Collection<Position> positions) throws IOException {
        return new Writer(
                options,
                NexmarkStatistics.of(options.run()),
                options.output() == null ? null : open(options.output(), positions));
    }

    private ReplayableFile open(String name, Collection<Position> positions) throws IOException {
        for (Position position : positions) {
            if (position.file().equals(name)) {
                return ReplayableFile.resume(name, position.bytes());
            }
        }
        return ReplayableFile.create(name, options.query().header());
    }

    @Override
    public SimpleVersionedSerializer<Position> getWriterStateSerializer() {
        return new VersionedSerializer<>(Position::write, Position::read);
    }

    private record Writer(
            NexmarkOptions options, NexmarkStatistics statistics, @Nullable ReplayableFile file)
            implements StatefulSinkWriter<Answer, Position> {

        @Override
        public void write(Answer answer, Context context) throws IOException {
            statistics.row(answer, options.generator());
            if (file != null) {
                file.write(answer.csv());
            }
        }

        @Override
        public void flush(boolean endOfInput) throws IOException {
            if (file != null) {
                file.flush();
            }
            if (endOfInput) {
                statistics.end();
            }
        }

        @Override
        public List<Position> snapshotState(long checkpointId) throws IOException {
            if (file == null || options.output() == null) {
                return List.of();
            }
            file.sync();
            return List.of(new Position(options.output(), file.length()));
        }

        @Override
        public void close() throws IOException {
            if (file != null) {
                file.close();
            }
        }
    }
}
