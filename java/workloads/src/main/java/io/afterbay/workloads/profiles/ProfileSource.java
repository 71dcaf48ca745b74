package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.EventSplit;
import io.afterbay.workloads.run.GeneratedSource;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;

/**
 * The records as a Flink source: bounded, in order, read by one instance. A checkpoint holds the
 * number of the next one, so a restart continues where it was.
 */
final class ProfileSource extends GeneratedSource<Profile> {
    private static final long serialVersionUID = 1;

    private final ProfilesOptions options;

    ProfileSource(ProfilesOptions options) {
        this.options = options;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<Profile, EventSplit> createReader(SourceReaderContext context) {
        return new ProfileReader(options, context);
    }
}
