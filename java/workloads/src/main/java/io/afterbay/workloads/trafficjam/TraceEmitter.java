package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.WorkloadException;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.connector.base.source.reader.RecordEmitter;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.groups.SourceReaderMetricGroup;

/** Sends reports into the job and rejected lines to their file, on the task's thread. */
final class TraceEmitter implements RecordEmitter<TraceLine, Report, TraceProgress> {
    private static final long MILLIS_PER_SECOND = 1000;

    private final Rejects rejects;
    private final TrafficJamStatistics statistics;
    private final Counter rejected;

    TraceEmitter(
            Rejects rejects, TrafficJamStatistics statistics, SourceReaderMetricGroup metrics) {
        this.rejects = rejects;
        this.statistics = statistics;
        this.rejected = metrics.getNumRecordsInErrorsCounter();
    }

    @Override
    public void emitRecord(TraceLine line, SourceOutput<Report> output, TraceProgress progress)
            throws WorkloadException {
        if (line.isEndOfPass()) {
            progress.endPass();
            return;
        }
        Report report = progress.take(line);
        if (report != null) {
            output.collect(report, report.timeS() * MILLIS_PER_SECOND);
        } else if (progress.isFirstPass()) {
            rejected.inc();
            rejects.write(line);
        }
        statistics.counts(progress);
    }
}
