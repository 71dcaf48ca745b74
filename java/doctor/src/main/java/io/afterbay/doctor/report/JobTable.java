package io.afterbay.doctor.report;

import io.afterbay.doctor.analysis.Diagnosis;
import io.afterbay.doctor.analysis.JobReport;
import io.afterbay.doctor.analysis.Rhythm;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** A row for each job: what its rhythm is, and whether its instances are aligned. */
final class JobTable {
    private JobTable() {}

    static List<List<String>> of(Report report) {
        boolean hasWorkers = report.hasSeveralWorkers();
        List<List<String>> rows = new ArrayList<>();
        rows.add(
                row(
                        hasWorkers,
                        "job",
                        "verdict",
                        "instances",
                        "within stages",
                        "across stages",
                        "flush every",
                        "compact every",
                        "worker"));
        report.jobs().forEach(job -> rows.add(of(job, hasWorkers)));
        return rows;
    }

    private static List<String> of(JobReport job, boolean hasWorkers) {
        Diagnosis diagnosis = job.diagnosis();
        Rhythm rhythm = diagnosis.rhythm();
        boolean isRegular = rhythm.bursts() > 0;
        return row(
                hasWorkers,
                job.origin().label(),
                diagnosis.verdict().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                "" + diagnosis.instances().size(),
                score(diagnosis.withinStages()),
                score(diagnosis.acrossStages()),
                isRegular ? Words.micros(rhythm.periodMicros()) : "-",
                isRegular
                        ? Words.micros(Math.max(1, rhythm.everyNthBurst()) * rhythm.periodMicros())
                        : "-",
                job.origin().worker());
    }

    private static List<String> row(boolean hasWorkers, String... cells) {
        return List.of(cells).subList(0, hasWorkers ? cells.length : cells.length - 1);
    }

    private static String score(OptionalDouble score) {
        return score.isPresent() ? Words.score(score.getAsDouble()) : "-";
    }
}
