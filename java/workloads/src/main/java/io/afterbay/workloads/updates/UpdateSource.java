package io.afterbay.workloads.updates;

import io.afterbay.workloads.run.EventSplit;
import io.afterbay.workloads.run.GeneratedSource;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;

/**
 * The numbers of events in order, read by one instance. A checkpoint holds the next one, so a
 * restart continues where it was.
 */
final class UpdateSource extends GeneratedSource<Long> {
    private static final long serialVersionUID = 1;

    private final UpdateOptions options;

    UpdateSource(UpdateOptions options) {
        this.options = options;
    }

    /** It ends when it is told to. */
    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<Long, EventSplit> createReader(SourceReaderContext context) {
        return new UpdateReader(options, context);
    }
}
