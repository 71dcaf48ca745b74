package io.afterbay.edge.lines;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;

/** Emits the rows of a file's lines, and looks for further ones every few milliseconds. */
final class LinesReader implements SourceReader<RowData, LinesSource.Whole> {
    private static final long POLL_MS = 10;

    private final LineTail lines;
    private final String path;
    private final DeserializationSchema<RowData> decoder;
    private final SourceReaderContext context;
    private final CompletableFuture<Void> assignment = new CompletableFuture<>();
    private boolean assigned;
    private long line;

    LinesReader(
            LineTail lines,
            String path,
            DeserializationSchema<RowData> decoder,
            SourceReaderContext context) {
        this.lines = lines;
        this.path = path;
        this.decoder = decoder;
        this.context = context;
    }

    @Override
    public void start() {
        try {
            decoder.open(new DecoderContext(context));
        } catch (Exception e) {
            throw new IllegalStateException(path + ": its format does not open", e);
        }
    }

    private record DecoderContext(SourceReaderContext reader)
            implements DeserializationSchema.InitializationContext {
        @Override
        public MetricGroup getMetricGroup() {
            return reader.metricGroup();
        }

        @Override
        public UserCodeClassLoader getUserCodeClassLoader() {
            return SimpleUserCodeClassLoader.create(LinesReader.class.getClassLoader());
        }
    }

    @Override
    public void addSplits(List<LinesSource.Whole> splits) {
        assigned = true;
    }

    @Override
    public void notifyNoMoreSplits() {
        assignment.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<RowData> output) throws IOException {
        if (!assigned) {
            return assignment.isDone() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        byte[] next = lines.next();
        if (next != null) {
            line++;
            emit(next, output);
            return InputStatus.MORE_AVAILABLE;
        }
        return lines.isEnded() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
    }

    private void emit(byte[] next, ReaderOutput<RowData> output) throws IOException {
        if (new String(next, StandardCharsets.UTF_8).isBlank()) {
            return;
        }
        try {
            decoder.deserialize(next, collector(output));
        } catch (IOException e) {
            throw new IOException("%s, line %d: %s".formatted(path, line, e.getMessage()), e);
        }
    }

    private static Collector<RowData> collector(ReaderOutput<RowData> output) {
        return new Collector<>() {
            @Override
            public void collect(RowData row) {
                output.collect(row);
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return assigned
                ? new CompletableFuture<Void>()
                        .completeOnTimeout(null, POLL_MS, TimeUnit.MILLISECONDS)
                : assignment;
    }

    @Override
    public List<LinesSource.Whole> snapshotState(long checkpoint) {
        return List.of();
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
