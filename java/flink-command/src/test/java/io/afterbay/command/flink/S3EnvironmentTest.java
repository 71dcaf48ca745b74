package io.afterbay.command.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

class S3EnvironmentTest {
    private static final String URL = "http://127.0.0.1:7482";

    private static Map<String, String> settings(Map<String, String> variables, String... given) {
        Configuration configuration = new Configuration();
        for (int i = 0; i < given.length; i += 2) {
            configuration.setString(given[i], given[i + 1]);
        }
        new S3Environment(variables).addTo(configuration);
        return configuration.toMap();
    }

    @Test
    void anAddressBringsRegionAndPaths() {
        assertThat(settings(Map.of("AWS_ENDPOINT_URL", URL)))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(
                                "s3.endpoint", URL,
                                "s3.endpoint.region", "us-east-1",
                                "s3.region", "us-east-1",
                                "s3.path.style.access", "true"));
        assertThat(settings(Map.of("AWS_ENDPOINT_URL", URL, "AWS_DEFAULT_REGION", "eu-west-2")))
                .containsEntry("s3.region", "eu-west-2");
        assertThat(settings(Map.of("AWS_ENDPOINT_URL", URL, "AWS_ENDPOINT_URL_S3", "http://s3")))
                .containsEntry("s3.endpoint", "http://s3");
    }

    @Test
    void whatWasGivenStays() {
        Map<String, String> variables = Map.of("AWS_ENDPOINT_URL", URL);
        assertThat(settings(variables, "s3.endpoint", "http://other"))
                .containsExactly(Map.entry("s3.endpoint", "http://other"));
        assertThat(settings(variables, "s3.path.style.access", "false"))
                .containsEntry("s3.path.style.access", "false");
    }

    @Test
    void amazonNeedsNothing() {
        assertThat(settings(Map.of("AWS_ENDPOINT_URL", "", "AWS_REGION", "eu-west-2"))).isEmpty();
    }
}
