package io.afterbay.replay.merge;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/** Makes a {@link Merging} for each subtask, and on the JobManager what ends the log's source. */
final class MergingFactory extends AbstractStreamOperatorFactory<byte[]>
        implements TwoInputStreamOperatorFactory<byte[], byte[], byte[]>,
                CoordinatedOperatorFactory<byte[]> {
    private static final long serialVersionUID = 1;

    private final Resolver resolver;
    private final String replayId;
    private final long sinceMs;
    private final String source;
    private final MergeListener listener;

    /**
     * @param replayId of the replay and the sink
     * @param sinceMs from when on rows of the live job count
     * @param source under which the coordinator of the source of the log listens
     */
    MergingFactory(
            Resolver resolver,
            String replayId,
            long sinceMs,
            String source,
            MergeListener listener) {
        this.resolver = resolver;
        this.replayId = replayId;
        this.sinceMs = sinceMs;
        this.source = source;
        this.listener = listener;
    }

    @Override
    @SuppressWarnings("unchecked") // It is asked for by a generic type that has no other.
    public <T extends StreamOperator<byte[]>> T createStreamOperator(
            StreamOperatorParameters<byte[]> parameters) {
        OperatorID id = parameters.getStreamConfig().getOperatorID();
        return (T)
                new Merging(
                        parameters,
                        resolver,
                        replayId,
                        sinceMs,
                        parameters.getOperatorEventDispatcher().getOperatorEventGateway(id));
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(
            String operatorName, OperatorID operatorId) {
        return new Provider(operatorId, source, listener);
    }

    @Override
    @SuppressWarnings("rawtypes") // As Flink has it.
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return Merging.class;
    }

    private record Provider(OperatorID operatorId, String source, MergeListener listener)
            implements OperatorCoordinator.Provider {
        @Override
        public OperatorID getOperatorId() {
            return operatorId;
        }

        @Override
        public OperatorCoordinator create(OperatorCoordinator.Context context) {
            return new MergeCoordinator(context, source, listener);
        }
    }
}
