package io.afterbay.edge.plan;

import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

/**
 * What a job needs beside its plan.
 *
 * @param zone the time zone, which a plan does not say everywhere it counts
 * @param jars with connectors, formats and functions that Flink does not bring along: absolute
 *     paths or URIs, as ADD JAR takes them
 */
public record Session(ZoneId zone, List<String> jars) {
    /** In UTC, with what Flink brings along. */
    public static final Session DEFAULT = new Session(ZoneOffset.UTC, List.of());

    public Session {
        jars = List.copyOf(jars);
    }
}
