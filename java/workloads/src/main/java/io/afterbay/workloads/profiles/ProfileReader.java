package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.EventSplit;
import io.afterbay.workloads.run.Schedule;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.jspecify.annotations.Nullable;

/**
 * Generates on the task's thread. In an open loop it emits what is due and sleeps in between, by a
 * schedule that a slow job cannot move.
 */
final class ProfileReader implements SourceReader<Profile, EventSplit> {
    private static final String JOB_ID_VARIABLE = "<job_id>";

    /** As a timer for each record would cost more than it. */
    private static final long SLEEP_MICROS_MIN = 200;

    /** Records between two reports, at full speed. */
    private static final int STEP = 256;

    private final ProfilesOptions options;
    private final ProfilesStatistics statistics;
    private final String job;
    private final CompletableFuture<Void> assignment = new CompletableFuture<>();
    private @Nullable Schedule schedule;
    private long next;
    private long dueMicros = Long.MIN_VALUE;

    ProfileReader(ProfilesOptions options, SourceReaderContext context) {
        this.options = options;
        this.statistics = ProfilesStatistics.of(options.run());
        this.job = context.metricGroup().getAllVariables().getOrDefault(JOB_ID_VARIABLE, "");
    }

    @Override
    public void start() {
        // The enumerator assigns as soon as the reader is registered.
    }

    @Override
    public void addSplits(List<EventSplit> splits) {
        for (EventSplit split : splits) {
            next = split.next();
            schedule =
                    split.schedule().belongsTo(job)
                            ? split.schedule()
                            : new Schedule(job, EpochClock.micros(), next);
        }
        assignment.complete(null);
    }

    @Override
    public void notifyNoMoreSplits() {
        assignment.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Profile> output) {
        Schedule current = schedule;
        if (current == null) {
            return assignment.isDone() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        if (next >= options.records()) {
            statistics.records(next);
            return InputStatus.END_OF_INPUT;
        }
        if (!isDue(current)) {
            statistics.records(next);
            return InputStatus.NOTHING_AVAILABLE;
        }
        emit(output);
        return InputStatus.MORE_AVAILABLE;
    }

    private boolean isDue(Schedule current) {
        if (!options.isOpenLoop()) {
            return true;
        }
        dueMicros = current.dueMicros(next, options.recordsPerSecond());
        return dueMicros <= EpochClock.micros();
    }

    private void emit(ReaderOutput<Profile> output) {
        if (next % STEP == 0) {
            statistics.records(next);
        }
        statistics.stamp(next, options.isOpenLoop() ? dueMicros : EpochClock.micros());
        Profile profile = options.record(next);
        output.collect(profile, ProfilesOptions.timeMillis(profile));
        next++;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (schedule == null) {
            return assignment;
        }
        long waitMicros = dueMicros - EpochClock.micros();
        if (!options.isOpenLoop() || waitMicros <= 0) {
            return CompletableFuture.completedFuture(null);
        }
        return new CompletableFuture<Void>()
                .completeOnTimeout(
                        null, Math.max(waitMicros, SLEEP_MICROS_MIN), TimeUnit.MICROSECONDS);
    }

    @Override
    public List<EventSplit> snapshotState(long checkpointId) {
        return schedule == null ? List.of() : List.of(new EventSplit(next, schedule));
    }

    @Override
    public void close() {}
}
