package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.WorkloadException;
import org.jspecify.annotations.Nullable;

/** Where the reading thread takes lines from, without being held up by a silent pipe. */
interface LineFeed extends AutoCloseable {

    /** Whether {@link #next} would not wait; waits this long itself for that to become true. */
    boolean isReady(long waitMillis);

    /** The next line, an end of pass, or null after the last line. */
    @Nullable TraceLine next() throws WorkloadException;

    @Override
    void close() throws WorkloadException;

    /** Lines of a file are always there. */
    static LineFeed ofFile(TraceLines lines) {
        return new LineFeed() {
            @Override
            public boolean isReady(long waitMillis) {
                return true;
            }

            @Override
            public @Nullable TraceLine next() throws WorkloadException {
                return lines.next();
            }

            @Override
            public void close() throws WorkloadException {
                lines.close();
            }
        };
    }
}
