package io.afterbay.flink;

import java.util.regex.Pattern;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.util.EnvironmentInformation;

/**
 * Flink's interfaces for state backends change with its minor versions. With another one, a class
 * or field that is missing would be all that is said, and at some later time.
 */
final class FlinkVersion {
    private static final String SUPPORTED = "2.3";

    private FlinkVersion() {}

    /**
     * Uses nothing of Flink that some version may not have.
     *
     * @throws IllegalConfigurationException if this process runs a Flink that the backend is not
     *     for
     */
    static void check() {
        check(EnvironmentInformation.getVersion());
    }

    static void check(String running) {
        boolean isRelease =
                running.matches("\\d+\\.\\d+(\\D.*)?"); // else built by hand, and unknown
        if (isRelease && !running.matches(Pattern.quote(SUPPORTED) + "(\\D.*)?")) {
            throw new IllegalConfigurationException(
                    "this jar of Afterbay is for Flink %s, and this process runs Flink %s: run the job on Flink %s, or set state.backend.type to a backend of Flink"
                            .formatted(SUPPORTED, running, SUPPORTED));
        }
    }
}
