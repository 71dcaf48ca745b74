package io.afterbay.replay.merge;

import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** A source that never ends by itself, and ends when the merge needs no more of it. */
final class LogSource<SplitT extends SourceSplit, EnumT> implements Source<byte[], SplitT, EnumT> {
    private static final long serialVersionUID = 1;

    private final Source<byte[], SplitT, EnumT> source;

    LogSource(Source<byte[], SplitT, EnumT> source) {
        this.source = source;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<byte[], SplitT> createReader(SourceReaderContext context) throws Exception {
        return new LogReader<>(source.createReader(context));
    }

    @Override
    public SplitEnumerator<SplitT, EnumT> createEnumerator(SplitEnumeratorContext<SplitT> context)
            throws Exception {
        return new LogEnumerator<>(source.createEnumerator(context), context);
    }

    @Override
    public SplitEnumerator<SplitT, EnumT> restoreEnumerator(
            SplitEnumeratorContext<SplitT> context, EnumT checkpoint) throws Exception {
        return new LogEnumerator<>(source.restoreEnumerator(context, checkpoint), context);
    }

    @Override
    public SimpleVersionedSerializer<SplitT> getSplitSerializer() {
        return source.getSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<EnumT> getEnumeratorCheckpointSerializer() {
        return source.getEnumeratorCheckpointSerializer();
    }
}
