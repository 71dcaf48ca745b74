package io.afterbay.flink.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobJarTest {
    private static final String FACTORIES =
            "META-INF/services/org.apache.flink.table.factories.Factory";

    @TempDir private Path directory;

    /** As users have it: the job and its libraries, the connector among them, and not Flink. */
    @Test
    void theJarHasTheConnectorAndNotFlink() throws Exception {
        Path jar = directory.resolve("job.jar");
        JobJar.pack(Files.readString(Path.of("target/classpath.txt")) + ":target/classes", jar);
        try (JarFile content = new JarFile(jar.toFile())) {
            assertThat(content.getManifest().getMainAttributes().getValue("Main-Class"))
                    .isEqualTo(ProfilesJob.class.getName());
            assertThat(content.stream().map(Object::toString))
                    .contains(
                            "io/afterbay/flink/kafka/workloads/ProfilesJob.class",
                            "io/afterbay/workloads/profiles/dictionary-2.csv",
                            "org/apache/flink/connector/kafka/source/KafkaSource.class",
                            "org/apache/kafka/clients/consumer/KafkaConsumer.class",
                            FACTORIES)
                    .doesNotContain(
                            "org/apache/flink/streaming/api/environment/StreamExecutionEnvironment.class")
                    .doesNotHaveDuplicates();
            String factories =
                    new String(
                            content.getInputStream(content.getEntry(FACTORIES)).readAllBytes(),
                            StandardCharsets.UTF_8);
            assertThat(factories).contains("UpsertKafkaDynamicTableFactory", "NexmarkTableFactory");
        }
    }
}
