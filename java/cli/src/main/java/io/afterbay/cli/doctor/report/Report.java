package io.afterbay.cli.doctor.report;

import io.afterbay.cli.doctor.analysis.Diagnosis;
import io.afterbay.cli.doctor.analysis.Recommendation;
import io.afterbay.cli.doctor.reading.LatencyLog;
import io.afterbay.cli.doctor.reading.Tally;
import org.jspecify.annotations.Nullable;

/**
 * All that is to be told.
 *
 * @param tally what was read and what not
 * @param latencyLog what was given with it, or null
 */
public record Report(
        Diagnosis diagnosis,
        Recommendation recommendation,
        Tally tally,
        @Nullable LatencyLog latencyLog) {

    public static Report of(Diagnosis diagnosis, Tally tally, @Nullable LatencyLog latencyLog) {
        return new Report(diagnosis, Recommendation.of(diagnosis), tally, latencyLog);
    }
}
