package io.afterbay.doctor.report;

import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.Recommendation;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.LatencyLog;
import io.afterbay.doctor.reading.Origin;
import io.afterbay.doctor.reading.Tally;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that is to be told.
 *
 * @param jobs each job of each worker, the worst first
 * @param recommendation for the worst
 * @param tally what was read and what not
 * @param evidence what was given with the logs
 */
public record Report(
        List<JobReport> jobs, Recommendation recommendation, Tally tally, Evidence evidence) {

    /** Examines the logs, job by job. */
    public static Report of(List<InstanceLog> instances, Tally tally, Evidence evidence) {
        List<JobReport> jobs = JobReport.of(instances, evidence);
        return new Report(jobs, Recommendation.of(jobs.get(0).diagnosis()), tally, evidence);
    }

    /**
     * A report on one job.
     *
     * @param latency what was given with the logs, or null
     */
    public static Report of(Diagnosis diagnosis, Tally tally, @Nullable LatencyLog latency) {
        JobReport job =
                new JobReport(
                        Origin.UNKNOWN,
                        diagnosis,
                        diagnosis.instances().size(),
                        diagnosis.overlap().mostInstances());
        return new Report(
                List.of(job), Recommendation.of(diagnosis), tally, Evidence.of(latency, null));
    }

    /** Of the worst job, which is told in full. */
    public Diagnosis diagnosis() {
        return jobs.get(0).diagnosis();
    }

    public boolean hasSeveralJobs() {
        return jobs.size() > 1;
    }

    /** Whether there are logs of several workers, so that jobs are told apart by it, too. */
    public boolean hasSeveralWorkers() {
        return jobs.stream().map(job -> job.origin().worker()).distinct().count() > 1;
    }
}
