package io.afterbay.workloads.trafficjam;

import org.jspecify.annotations.Nullable;

/** Where the reading thread takes lines from, without being held up by a silent pipe. */
interface LineFeed extends AutoCloseable {

    /** Whether {@link #next} would not wait; waits this long itself for that to become true. */
    boolean isReady(long waitMillis);

    /** The next line, an end of pass, or null after the last line. */
    @Nullable TraceLine next() throws TrafficJamException;

    @Override
    void close() throws TrafficJamException;

    /** Lines of a file are always there. */
    static LineFeed ofFile(TraceLines lines) {
        return new LineFeed() {
            @Override
            public boolean isReady(long waitMillis) {
                return true;
            }

            @Override
            public @Nullable TraceLine next() throws TrafficJamException {
                return lines.next();
            }

            @Override
            public void close() throws TrafficJamException {
                lines.close();
            }
        };
    }
}
