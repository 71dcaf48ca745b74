package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.Schedule;
import io.afterbay.workloads.run.WorkloadException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.connector.base.source.reader.RecordsBySplits;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitReader;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.jspecify.annotations.Nullable;

/**
 * The reading thread: takes lines from the trace as fast as it can or, in an open loop, when they
 * are due, and stamps each with the time at which it is due (else: read). It never waits for the
 * job with a line in hand whose stamp is still to be set, so a slow job cannot move the schedule.
 */
final class TraceSplitReader implements SplitReader<TraceLine, TraceSplit> {
    private static final int BATCH_LINES = 1024;
    private static final long WAIT_MILLIS_MAX = 100;

    private final TrafficJamOptions options;
    private @Nullable LineFeed feed;
    private Schedule schedule = Schedule.NONE;
    private long lines;
    private volatile boolean wokenUp;

    TraceSplitReader(TrafficJamOptions options) {
        this.options = options;
    }

    @Override
    public void handleSplitsChanges(SplitsChange<TraceSplit> change) {
        for (TraceSplit split : change.splits()) {
            lines = split.lines();
            schedule = split.schedule();
            feed = open(split);
        }
    }

    private LineFeed open(TraceSplit split) {
        try {
            TraceLines trace = new TraceLines(options.trace(), options.repeat());
            trace.seek(split.pass(), split.lineNumber(), split.offset());
            return options.trace().isReplayable() ? LineFeed.ofFile(trace) : new PipeFeed(trace);
        } catch (WorkloadException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public RecordsWithSplitIds<TraceLine> fetch() throws WorkloadException {
        RecordsBySplits.Builder<TraceLine> batch = new RecordsBySplits.Builder<>();
        LineFeed from = feed;
        if (from != null) {
            fill(batch, from);
        }
        wokenUp = false;
        return batch.build();
    }

    private void fill(RecordsBySplits.Builder<TraceLine> batch, LineFeed from)
            throws WorkloadException {
        long readMicros = 0;
        for (int i = 0; i < BATCH_LINES; i++) {
            if (!isDue(i == 0) || !from.isReady(i == 0 ? WAIT_MILLIS_MAX : 0)) {
                return;
            }
            TraceLine line = lines < options.linesMax() ? from.next() : null;
            if (line == null) {
                batch.addFinishedSplit(TraceSplit.ID);
                return;
            }
            if (i == 0) {
                readMicros = EpochClock.micros();
            }
            batch.add(TraceSplit.ID, line.isEndOfPass() ? line : stamp(line, readMicros));
        }
    }

    private TraceLine stamp(TraceLine line, long readMicros) {
        long micros = options.isOpenLoop() ? dueMicros() : readMicros;
        lines++;
        return line.stamped(micros);
    }

    private long dueMicros() {
        return schedule.dueMicros(lines, options.linesPerSecond());
    }

    /** Whether the next line is due; may wait for it, but not for long. */
    private boolean isDue(boolean wait) {
        if (!options.isOpenLoop()) {
            return true;
        }
        long aheadMicros = dueMicros() - EpochClock.micros();
        if (aheadMicros > 0 && wait && !wokenUp) {
            LockSupport.parkNanos(
                    Math.min(
                            TimeUnit.MICROSECONDS.toNanos(aheadMicros),
                            TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS_MAX)));
            aheadMicros = dueMicros() - EpochClock.micros();
        }
        return aheadMicros <= 0;
    }

    @Override
    public void wakeUp() {
        wokenUp = true;
    }

    @Override
    public void close() throws WorkloadException {
        if (feed != null) {
            feed.close();
        }
    }
}
