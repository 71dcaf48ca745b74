package io.afterbay.flink.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.connector.base.source.hybrid.HybridSource;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.SourceTransformation;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The job as it is built; no broker is asked. */
class ProfilesJobTest {
    private static Class<?> source(String... options) {
        ProfilesJob job = new ProfilesJob();
        new CommandLine(job).parseArgs(options);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        job.addTo(env);
        return env.getTransformations().stream()
                .flatMap(last -> last.getTransitivePredecessors().stream())
                .filter(SourceTransformation.class::isInstance)
                .map(one -> ((SourceTransformation<?, ?, ?>) one).getSource().getClass())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theSourceIsTheTopic() {
        assertThat(source("--bootstrap=localhost:1")).isEqualTo(KafkaSource.class);
    }

    @Test
    void theSourceIsThePastAndThenTheTopic() {
        assertThat(source("--bootstrap=localhost:1", "--past-until=1"))
                .isEqualTo(HybridSource.class);
    }
}
