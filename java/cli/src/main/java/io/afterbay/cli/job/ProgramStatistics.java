package io.afterbay.cli.job;

import io.afterbay.cli.metrics.EngineMetrics;
import io.afterbay.workloads.run.RunStatistics;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The figures of a run of somebody else's jobs, from Flink's metrics: events are the records that
 * leave the sources, latencies those of Flink's markers at the last operators.
 */
public final class ProgramStatistics extends RunStatistics {
    /** Between two looks at the counters; what begins in between counts from the second. */
    static final long SAMPLE_MILLIS = 50;

    private final EngineMetrics metrics = EngineMetrics.ofThisProcess();
    private boolean stopped;
    private final long recordsBefore = metrics.sourceRecords();
    private final ScheduledExecutorService sampler =
            Executors.newSingleThreadScheduledExecutor(
                    task -> {
                        Thread thread = new Thread(task, "sampler");
                        thread.setDaemon(true);
                        return thread;
                    });

    void start() {
        var unused =
                sampler.scheduleAtFixedRate(this::sample, 0, SAMPLE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private synchronized void sample() {
        long records = metrics.sourceRecords() - recordsBefore;
        if (records > accepted()) {
            accepted(records);
        }
        metrics.drainLatencies(this::marker);
    }

    private void marker(long millis) {
        long micros = TimeUnit.MILLISECONDS.toMicros(millis);
        latency(micros);
        observer().result(micros);
    }

    /** A job has ended; the clock of the run stops here if no other follows. */
    synchronized void jobEnded() {
        if (!stopped) {
            sample();
            resultNow();
        }
    }

    /** Stops the clock where it is, or, if jobs still run, now. */
    synchronized void stop(boolean jobsRun) {
        if (jobsRun) {
            jobEnded();
        }
        stopped = true;
        sampler.shutdown();
    }
}
