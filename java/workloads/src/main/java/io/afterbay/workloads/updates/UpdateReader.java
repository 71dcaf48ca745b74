package io.afterbay.workloads.updates;

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

/**
 * Emits the numbers of events, each with the time at which it was due as its timestamp. While the
 * state is built, it goes as fast as possible; then at the rate that is set. A new rate begins a
 * new schedule; a restart within a job keeps the one it had, so that it has to catch up.
 */
final class UpdateReader implements SourceReader<Long, EventSplit> {
    private static final String JOB_ID_VARIABLE = "<job_id>";
    private static final long SLEEP_MICROS_MIN = 200;

    /** Events between two looks at the clock, at full speed. */
    private static final int STEP = 256;

    private final UpdateOptions options;
    private final UpdateStatistics statistics;
    private final String job;
    private final CompletableFuture<Void> assignment = new CompletableFuture<>();
    private boolean assigned;
    private Schedule schedule = Schedule.NONE;
    private double ratePerS;
    private long next;
    private long dueMicros;

    UpdateReader(UpdateOptions options, SourceReaderContext context) {
        this.options = options;
        this.statistics = UpdateStatistics.of(options.run());
        this.job = context.metricGroup().getAllVariables().getOrDefault(JOB_ID_VARIABLE, "");
    }

    @Override
    public void start() {
        // The enumerator assigns as soon as the reader is registered.
    }

    @Override
    public void addSplits(List<EventSplit> splits) {
        for (EventSplit split : splits) {
            assigned = true;
            next = split.next();
            ratePerS = wantedRatePerS();
            schedule = split.schedule().belongsTo(job) ? split.schedule() : newSchedule();
        }
        assignment.complete(null);
    }

    private Schedule newSchedule() {
        return new Schedule(job, EpochClock.micros(), next);
    }

    private double wantedRatePerS() {
        return next < options.keys() ? 0 : statistics.ratePerS(options.ratePerS());
    }

    @Override
    public void notifyNoMoreSplits() {
        assignment.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<Long> output) {
        if (!assigned) {
            return assignment.isDone() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        if (statistics.isStopped()) {
            report();
            return InputStatus.END_OF_INPUT;
        }
        keepPace();
        if (ratePerS > 0 && dueMicros > EpochClock.micros()) {
            report();
            return InputStatus.NOTHING_AVAILABLE;
        }
        emit(output);
        return InputStatus.MORE_AVAILABLE;
    }

    private void keepPace() {
        double wanted = wantedRatePerS();
        if (wanted != ratePerS) {
            ratePerS = wanted;
            schedule = newSchedule();
        }
        if (ratePerS > 0) {
            dueMicros = schedule.dueMicros(next, ratePerS);
        } else if (next % STEP == 0) {
            dueMicros = EpochClock.micros();
        }
    }

    private void emit(ReaderOutput<Long> output) {
        if (next % STEP == 0) {
            report();
        }
        output.collect(next, TimeUnit.MICROSECONDS.toMillis(dueMicros));
        next++;
    }

    private void report() {
        statistics.events(next, ratePerS > 0 ? Math.max(0, EpochClock.micros() - dueMicros) : 0);
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (!assigned) {
            return assignment;
        }
        long waitMicros = dueMicros - EpochClock.micros();
        if (ratePerS == 0 || waitMicros <= 0) {
            return CompletableFuture.completedFuture(null);
        }
        return new CompletableFuture<Void>()
                .completeOnTimeout(
                        null, Math.max(waitMicros, SLEEP_MICROS_MIN), TimeUnit.MICROSECONDS);
    }

    @Override
    public List<EventSplit> snapshotState(long checkpointId) {
        return assigned ? List.of(new EventSplit(next, schedule)) : List.of();
    }

    @Override
    public void close() {}
}
