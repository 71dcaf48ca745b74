package io.afterbay.doctor.reading;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What was measured at the time of the logs and given with them. */
public record Evidence(Optional<LatencyLog> latency, Optional<GcLog> gc) {
    public static final Evidence NONE = of(null, null);

    /** Either may be null. */
    public static Evidence of(@Nullable LatencyLog latency, @Nullable GcLog gc) {
        return new Evidence(Optional.ofNullable(latency), Optional.ofNullable(gc));
    }
}
