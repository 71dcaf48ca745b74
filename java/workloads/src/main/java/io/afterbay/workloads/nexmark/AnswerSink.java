package io.afterbay.workloads.nexmark;

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
import org.jspecify.annotations.Nullable;

/**
 * Takes the time of every row and, if it has a file, writes it there, exactly once: a checkpoint
 * holds the length of the file, see {@link ReplayableFile}. Parallelism 1.
 */
final class AnswerSink implements Sink<Answer>, SupportsWriterState<Answer, FilePosition> {
    private static final long serialVersionUID = 1;

    private final NexmarkOptions options;

    AnswerSink(NexmarkOptions options) {
        this.options = options;
    }

    @Override
    public SinkWriter<Answer> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<Answer, FilePosition> restoreWriter(
            WriterInitContext context, Collection<FilePosition> positions) throws IOException {
        return new Writer(
                options,
                NexmarkStatistics.of(options.run()),
                options.output() == null ? null : open(options.output(), positions));
    }

    private ReplayableFile open(String name, Collection<FilePosition> positions)
            throws IOException {
        return FilePosition.open(name, options.query().header(), positions);
    }

    @Override
    public SimpleVersionedSerializer<FilePosition> getWriterStateSerializer() {
        return FilePosition.serializer();
    }

    private record Writer(
            NexmarkOptions options, NexmarkStatistics statistics, @Nullable ReplayableFile file)
            implements StatefulSinkWriter<Answer, FilePosition> {

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
        public List<FilePosition> snapshotState(long checkpointId) throws IOException {
            if (file == null || options.output() == null) {
                return List.of();
            }
            file.sync();
            return List.of(new FilePosition(options.output(), file.length()));
        }

        @Override
        public void close() throws IOException {
            if (file != null) {
                file.close();
            }
        }
    }
}
