package io.afterbay.doctor.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.InstanceName;
import io.afterbay.doctor.reading.Origin;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Jobs with checkpoints of 8 s and 5 s on a worker, and one on another. */
class JobReportTest {
    private static final long SECOND = 1_000_000;
    private static final Origin LONG = new Origin("long", "a");
    private static final Origin SHORT = new Origin("short", "a");
    private static final Origin APART = new Origin("long", "b");

    private final List<InstanceLog> instances = new ArrayList<>();

    /** Compacts for 0.9 s at every fourth checkpoint, those with other phases at others. */
    private void add(Origin origin, int number, long periodSeconds, boolean isAligned) {
        for (int i = 0; i < number; i++) {
            InstanceLog log =
                    new InstanceLog(
                            new InstanceName(
                                    Engine.FLINK, origin, "stage", "" + i, origin + "/" + i));
            ColumnFamilyLog family = log.columnFamily("state");
            for (int round = 0; round < 40; round++) {
                long flush = round * periodSeconds * SECOND + i * 1000;
                family.addFlush(flush, flush + 50_000, "Get Live Files");
                if (round % 4 == (isAligned ? 3 : i % 4)) {
                    family.addCompaction(flush + 60_000, flush + 960_000, 4);
                }
            }
            instances.add(log);
        }
    }

    @Test
    void eachJobHasItsOwnRhythmAndTheWorstIsFirst() {
        add(SHORT, 8, 5, false);
        add(LONG, 12, 8, true);
        add(APART, 4, 3, true);
        List<JobReport> jobs = JobReport.of(instances, Evidence.NONE);
        assertThat(jobs).extracting(JobReport::origin).containsExactly(LONG, APART, SHORT);
        assertThat(jobs)
                .extracting(job -> job.diagnosis().rhythm().periodMicros())
                .containsExactly(8 * SECOND, 3 * SECOND, 5 * SECOND);
        assertThat(jobs)
                .extracting(job -> job.diagnosis().verdict())
                .containsExactly(Verdict.ALIGNED, Verdict.ALIGNED, Verdict.NOT_ALIGNED);
        assertThat(jobs).extracting(JobReport::workerInstances).containsExactly(20, 4, 20);
        assertThat(jobs.get(0).workerAtOnce())
                .as("all of one job, and those of the other that fall due at the same time")
                .isBetween(12, 20);
    }

    @Test
    void noInstancesAreOneReport() {
        assertThat(JobReport.of(List.of(), Evidence.NONE))
                .singleElement()
                .satisfies(job -> assertThat(job.diagnosis().instances()).isEmpty());
    }
}
