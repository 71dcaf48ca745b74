package io.afterbay.workloads.nexmark;

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
 * Generates on the task's thread: without a hand-over between threads, what a run costs is the job.
 * In an open loop it emits what is due and sleeps in between, by a schedule that a slow job cannot
 * move.
 */
final class EventReader implements SourceReader<Event, EventSplit> {
    private static final String JOB_ID_VARIABLE = "<job_id>";

    /** How long the reader sleeps at least, as a timer for each event would cost more than it. */
    private static final long SLEEP_MICROS_MIN = 200;

    private final Generator generator;
    private final long end;
    private final double eventsPerSecond;
    private final SourceReaderContext context;
    private final NexmarkStatistics statistics;
    private final CompletableFuture<Void> assignment = new CompletableFuture<>();
    private @Nullable Schedule schedule;
    private long next;
    private long dueMicros = Long.MIN_VALUE;

    EventReader(
            Generator generator,
            long end,
            double eventsPerSecond,
            SourceReaderContext context,
            NexmarkStatistics statistics) {
        this.generator = generator;
        this.end = end;
        this.eventsPerSecond = eventsPerSecond;
        this.context = context;
        this.statistics = statistics;
    }

    @Override
    public void start() {
        // The enumerator assigns as soon as the reader is registered.
    }

    @Override
    public void addSplits(List<EventSplit> splits) {
        for (EventSplit split : splits) {
            next = split.next();
            schedule = scheduleOf(split);
        }
        assignment.complete(null);
    }

    private Schedule scheduleOf(EventSplit split) {
        String job = context.metricGroup().getAllVariables().getOrDefault(JOB_ID_VARIABLE, "");
        return split.schedule().belongsTo(job)
                ? split.schedule()
                : new Schedule(job, EpochClock.micros(), split.next());
    }

    @Override
    public void notifyNoMoreSplits() {
        assignment.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Event> output) {
        Schedule current = schedule;
        if (current == null) {
            return assignment.isDone() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        if (next >= end) {
            statistics.events(next);
            return InputStatus.END_OF_INPUT;
        }
        if (!isDue(current)) {
            statistics.events(next);
            return InputStatus.NOTHING_AVAILABLE;
        }
        emit(output);
        return InputStatus.MORE_AVAILABLE;
    }

    private void emit(ReaderOutput<Event> output) {
        if (Watermarks.isDueAt(next)) {
            statistics.events(next);
            statistics.stamp(next, eventsPerSecond > 0 ? dueMicros : EpochClock.micros());
        }
        Event event = generator.event(next);
        output.collect(event, generator.timeMillis(next));
        next++;
    }

    private boolean isDue(Schedule current) {
        if (eventsPerSecond <= 0) {
            return true;
        }
        dueMicros = current.dueMicros(next, eventsPerSecond);
        return dueMicros <= EpochClock.micros();
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (schedule == null) {
            return assignment;
        }
        long waitMicros = dueMicros - EpochClock.micros();
        if (eventsPerSecond <= 0 || waitMicros <= 0) {
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
