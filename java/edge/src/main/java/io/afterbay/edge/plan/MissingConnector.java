package io.afterbay.edge.plan;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Says which connector or format Flink has not found, and the way out. */
final class MissingConnector {
    /** As Flink 2.3 writes it: {@code FactoryUtil}, and the table of files. */
    private static final Pattern NO_FACTORY =
            Pattern.compile("Could not find any (?:format )?factory for identifier '([^']+)'");

    private static final String FOR_KAFKA =
            " (for Kafka, flink-sql-connector-kafka-5.0.0-2.2.jar of org.apache.flink on Maven Central)";

    private static final String OR_FILES =
            "; or put 'connector' = 'filesystem' with 'format' = 'json' in its place, as the sites' files stand for it anyway";

    private MissingConnector() {}

    /** Null if a failure has another reason. */
    static @Nullable String reason(Throwable failure, Planning planning) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            Matcher matcher = NO_FACTORY.matcher(String.valueOf(cause.getMessage()));
            if (matcher.find()) {
                return reason(matcher.group(1), planning);
            }
        }
        return null;
    }

    private static String reason(String identifier, Planning planning) {
        String missing =
                "there is no connector or format '%s' in Flink itself".formatted(identifier);
        return missing
                + "; name the jar that has it, with --jar or with ADD JAR in the script"
                + (identifier.contains("kafka") ? FOR_KAFKA : "")
                + (planning.filesForKafka() ? OR_FILES : "");
    }
}
