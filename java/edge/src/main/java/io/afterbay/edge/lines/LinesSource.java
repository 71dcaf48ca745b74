package io.afterbay.edge.lines;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/**
 * A {@link GrowingFile} as a source with one reader, whose order is that of the lines. It ends with
 * the file. A job of it that fails is run again from the beginning: checkpoints hold nothing.
 */
final class LinesSource implements Source<RowData, LinesSource.Whole, LinesSource.Whole> {
    private static final long serialVersionUID = 1;

    private final String path;
    private final @Nullable String committed;
    private final DeserializationSchema<RowData> decoder;

    /** The only split. */
    record Whole() implements SourceSplit {
        @Override
        public String splitId() {
            return "whole";
        }
    }

    LinesSource(String path, @Nullable String committed, DeserializationSchema<RowData> decoder) {
        this.path = path;
        this.committed = committed;
        this.decoder = decoder;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<RowData, Whole> createReader(SourceReaderContext context) {
        GrowingFile file =
                new GrowingFile(Path.of(path), committed == null ? null : Path.of(committed));
        return new LinesReader(new LineTail(file), path, decoder, context);
    }

    @Override
    public SplitEnumerator<Whole, Whole> createEnumerator(SplitEnumeratorContext<Whole> context) {
        return new WholeFileEnumerator(context);
    }

    @Override
    public SplitEnumerator<Whole, Whole> restoreEnumerator(
            SplitEnumeratorContext<Whole> context, Whole checkpoint) {
        return new WholeFileEnumerator(context);
    }

    @Override
    public SimpleVersionedSerializer<Whole> getSplitSerializer() {
        return new WholeSerializer();
    }

    @Override
    public SimpleVersionedSerializer<Whole> getEnumeratorCheckpointSerializer() {
        return new WholeSerializer();
    }

    private static final class WholeSerializer implements SimpleVersionedSerializer<Whole> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Whole split) {
            return split.splitId().getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Whole deserialize(int version, byte[] serialized) {
            return new Whole();
        }
    }
}
