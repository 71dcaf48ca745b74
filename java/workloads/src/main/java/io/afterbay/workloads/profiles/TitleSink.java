package io.afterbay.workloads.profiles;

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
final class TitleSink
        implements Sink<StandardTitle>, SupportsWriterState<StandardTitle, FilePosition> {
    private static final long serialVersionUID = 1;

    private final ProfilesOptions options;

    TitleSink(ProfilesOptions options) {
        this.options = options;
    }

    @Override
    public SinkWriter<StandardTitle> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<StandardTitle, FilePosition> restoreWriter(
            WriterInitContext context, Collection<FilePosition> positions) throws IOException {
        String output = options.output();
        return new Writer(
                options,
                ProfilesStatistics.of(options.run()),
                output == null ? null : FilePosition.open(output, StandardTitle.HEADER, positions));
    }

    @Override
    public SimpleVersionedSerializer<FilePosition> getWriterStateSerializer() {
        return FilePosition.serializer();
    }

    private record Writer(
            ProfilesOptions options, ProfilesStatistics statistics, @Nullable ReplayableFile file)
            implements StatefulSinkWriter<StandardTitle, FilePosition> {

        @Override
        public void write(StandardTitle title, Context context) throws IOException {
            statistics.row(title, options.number(title.changedMicros()));
            if (file != null) {
                file.write(title.csv());
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
