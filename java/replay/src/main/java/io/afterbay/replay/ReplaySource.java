package io.afterbay.replay;

import java.util.Set;
import org.apache.flink.api.common.watermark.WatermarkDeclaration;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ExternallyInducedSourceReader;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Stands where a bounded source stood: yields what is in the range, at the rate that the control
 * directory gives, and ends.
 *
 * @param <T> records
 * @param <SplitT> splits of the source
 * @param <EnumT> what the enumerator of the source keeps in checkpoints
 */
final class ReplaySource<T, SplitT extends SourceSplit, EnumT>
        implements Source<T, ReplaySplit<SplitT>, ReplayEnumeratorState<EnumT>> {
    private static final long serialVersionUID = 1;

    private final BoundedSource<T, SplitT, EnumT> bounded;
    private final RecordTime<T> time;
    private final boolean needsTimes;
    private final ReplayRange range;
    private final SourceControl control;

    /**
     * @param needsTimes whether records without a time fail the job; otherwise they pass
     */
    ReplaySource(
            BoundedSource<T, SplitT, EnumT> bounded,
            RecordTime<T> time,
            boolean needsTimes,
            ReplayRange range,
            SourceControl control) {
        this.bounded = bounded;
        this.time = time;
        this.needsTimes = needsTimes;
        this.range = range;
        this.control = control;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<T, ReplaySplit<SplitT>> createReader(SourceReaderContext context)
            throws Exception {
        SourceReader<T, SplitT> reader = bounded.source().createReader(context);
        if (reader instanceof ExternallyInducedSourceReader) {
            reader.close();
            throw new ReplayImpossibleException(
                    "the reader of source '%s', a %s, makes checkpoints by itself: it cannot be replayed"
                            .formatted(control.name(), reader.getClass().getName()));
        }
        RangeOutput.Gate<T> gate =
                new RangeOutput.Gate<>(
                        range,
                        time.assigner(context::metricGroup),
                        !bounded.yieldsRange(),
                        needsTimes,
                        control.name());
        return new ReplayReader<>(reader, context, gate, System::nanoTime);
    }

    @Override
    public SplitEnumerator<ReplaySplit<SplitT>, ReplayEnumeratorState<EnumT>> createEnumerator(
            SplitEnumeratorContext<ReplaySplit<SplitT>> context) throws Exception {
        return enumerator(context, ReplayEnumeratorState.anew());
    }

    @Override
    public SplitEnumerator<ReplaySplit<SplitT>, ReplayEnumeratorState<EnumT>> restoreEnumerator(
            SplitEnumeratorContext<ReplaySplit<SplitT>> context,
            ReplayEnumeratorState<EnumT> checkpoint)
            throws Exception {
        return enumerator(context, checkpoint);
    }

    private SplitEnumerator<ReplaySplit<SplitT>, ReplayEnumeratorState<EnumT>> enumerator(
            SplitEnumeratorContext<ReplaySplit<SplitT>> context, ReplayEnumeratorState<EnumT> state)
            throws Exception {
        @Nullable EnumT checkpoint = state.checkpoint();
        SplitContext<SplitT> own = new SplitContext<>(context);
        SplitEnumerator<SplitT, EnumT> enumerator =
                checkpoint == null
                        ? bounded.source().createEnumerator(own)
                        : bounded.restoreEnumerator(own, checkpoint);
        return new ReplayEnumerator<>(enumerator, context, state, range, control, System::nanoTime);
    }

    @Override
    public SimpleVersionedSerializer<ReplaySplit<SplitT>> getSplitSerializer() {
        return new ReplaySplitSerializer<>(bounded.source().getSplitSerializer());
    }

    @Override
    public SimpleVersionedSerializer<ReplayEnumeratorState<EnumT>>
            getEnumeratorCheckpointSerializer() {
        return new ReplayEnumeratorStateSerializer<>(
                bounded.source().getEnumeratorCheckpointSerializer());
    }

    @Override
    public Set<? extends WatermarkDeclaration> declareWatermarks() {
        return bounded.source().declareWatermarks();
    }
}
