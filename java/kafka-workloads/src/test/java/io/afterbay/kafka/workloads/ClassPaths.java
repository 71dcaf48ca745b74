package io.afterbay.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** For processes with Kafka Streams. */
final class ClassPaths {
    private ClassPaths() {}

    /** The one of this process. */
    static String own() {
        return System.getProperty("java.class.path");
    }

    /** The same with the version of Kafka Streams before 4.3, and no broker. */
    static String before43() throws IOException {
        List<String> before;
        try (Stream<Path> jars =
                Files.list(Path.of(System.getProperty("afterbay.kafka.before.lib")))) {
            before = jars.map(Path::toString).toList();
        }
        assertThat(before).hasSize(2);
        Stream<String> others =
                Stream.of(own().split(File.pathSeparator, -1))
                        .filter(path -> !path.contains("org/apache/kafka/"));
        return Stream.concat(before.stream(), others)
                .collect(Collectors.joining(File.pathSeparator));
    }
}
