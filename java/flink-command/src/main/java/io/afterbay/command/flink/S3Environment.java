package io.afterbay.command.flink;

import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * What the variables of Amazon's own clients say about S3, as settings of Flink's S3 file systems,
 * so that the same variables serve {@code aws} and us. Keys need no setting: the file systems read
 * {@code AWS_ACCESS_KEY_ID} and {@code AWS_SECRET_ACCESS_KEY} themselves.
 *
 * @param variables the environment
 */
record S3Environment(Map<String, String> variables) {
    /** What S3 itself takes for clients that name none. */
    private static final String REGION = "us-east-1";

    /** Sets what the configuration does not say. Without an address: nothing, it is Amazon's. */
    void addTo(Configuration configuration) {
        String endpoint = first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
        if (endpoint == null || configuration.containsKey("s3.endpoint")) {
            return;
        }
        String region = first("AWS_REGION", "AWS_DEFAULT_REGION");
        configuration.setString("s3.endpoint", endpoint);
        // The one of Hadoop's file system, the other of the native one.
        setIfAbsent(configuration, "s3.endpoint.region", region == null ? REGION : region);
        setIfAbsent(configuration, "s3.region", region == null ? REGION : region);
        // A bucket as part of the host name needs a name server that knows it.
        setIfAbsent(configuration, "s3.path.style.access", "true");
    }

    private static void setIfAbsent(Configuration configuration, String key, String value) {
        if (!configuration.containsKey(key)) {
            configuration.setString(key, value);
        }
    }

    private @Nullable String first(String... names) {
        for (String name : names) {
            String value = variables.get(name);
            if (value != null && !value.isEmpty()) {
                return value;
            }
        }
        return null;
    }
}
