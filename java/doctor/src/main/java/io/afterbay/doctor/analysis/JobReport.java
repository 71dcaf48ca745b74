package io.afterbay.doctor.analysis;

import static java.util.Comparator.comparing;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.Intervals;
import io.afterbay.doctor.reading.Origin;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The findings of one job on one worker. Jobs have checkpoint intervals of their own, so that what
 * repeats can be found only job by job.
 *
 * @param workerInstances how many instances of any job the worker has
 * @param workerAtOnce how many of them compacted at once, at the most
 */
public record JobReport(Origin origin, Diagnosis diagnosis, int workerInstances, int workerAtOnce) {
    private static final Comparator<JobReport> WORST_FIRST =
            comparing((JobReport job) -> job.diagnosis.verdict())
                    .thenComparing(job -> -job.diagnosis.mostInstancesPerSlot());

    /**
     * Examines each job; the worst is first. A report at least, also of no instances.
     *
     * @param databases of which column families are compared if they are few; see {@link Unit}
     */
    public static List<JobReport> of(List<InstanceLog> databases, Evidence evidence) {
        List<InstanceLog> instances = Unit.split(databases);
        if (instances.isEmpty()) {
            return List.of(of(Origin.UNKNOWN, instances, instances, evidence));
        }
        Map<String, List<InstanceLog>> workers =
                instances.stream().collect(groupingBy(log -> log.name().origin().worker()));
        return instances.stream()
                .collect(groupingBy(log -> log.name().origin(), LinkedHashMap::new, toList()))
                .entrySet()
                .stream()
                .map(
                        job ->
                                of(
                                        job.getKey(),
                                        job.getValue(),
                                        workers.getOrDefault(job.getKey().worker(), List.of()),
                                        evidence))
                .sorted(WORST_FIRST)
                .toList();
    }

    private static JobReport of(
            Origin origin, List<InstanceLog> own, List<InstanceLog> worker, Evidence evidence) {
        List<Intervals> compactions = worker.stream().map(InstanceLog::compactions).toList();
        return new JobReport(
                origin,
                Diagnosis.of(own, evidence),
                worker.size(),
                Steps.ofEach(compactions).most());
    }
}
