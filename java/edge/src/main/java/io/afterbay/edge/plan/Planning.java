package io.afterbay.edge.plan;

import java.util.List;

/**
 * How a script is planned.
 *
 * @param jars with connectors, formats and functions that Flink does not bring along: paths or
 *     URIs, as ADD JAR takes them
 * @param filesForKafka whether files of lines of JSON stand for tables of Kafka, since sites' files
 *     are played in their place
 */
public record Planning(List<String> jars, boolean filesForKafka) {
    /** With what Flink brings along. */
    public static final Planning AS_WRITTEN = new Planning(List.of(), false);

    public Planning {
        jars = List.copyOf(jars);
    }
}
