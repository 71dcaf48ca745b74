package io.afterbay.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of programs with Kafka. They have a process of their own: Flink's RocksDB
 * (frocksdbjni, on the class path of this one) and Kafka's (rocksdbjni) are two versions of the
 * same classes. The build of the module {@code kafka-workloads} writes it.
 */
final class KafkaClassPath {
    private static final Path TARGET = Path.of("java", "kafka-workloads", "target");

    private KafkaClassPath() {}

    /**
     * @throws CommandFailure if something of it is missing
     */
    static String read() throws CommandFailure {
        Path target = Installation.home().resolve(TARGET).toAbsolutePath();
        try {
            String classPath =
                    target.resolve("classes")
                            + File.pathSeparator
                            + Files.readString(
                                            target.resolve("classpath.txt"), StandardCharsets.UTF_8)
                                    .strip();
            for (String entry : classPath.split(File.pathSeparator, -1)) {
                if (Files.notExists(Path.of(entry))) {
                    throw notBuilt(entry + " is missing");
                }
            }
            return classPath;
        } catch (IOException e) {
            throw notBuilt(Failures.reason(e));
        }
    }

    /**
     * The same with Kafka Streams 4.2, and no broker.
     *
     * @throws CommandFailure if something of it is missing
     */
    static String before43() throws CommandFailure {
        Path before = Installation.home().resolve(TARGET).resolve("kafka-before").toAbsolutePath();
        try (Stream<Path> jars = Files.list(before)) {
            Stream<String> others =
                    Stream.of(read().split(File.pathSeparator, -1))
                            .filter(entry -> !entry.contains("org/apache/kafka/"));
            return Stream.concat(jars.map(Path::toString), others)
                    .collect(Collectors.joining(File.pathSeparator));
        } catch (IOException e) {
            throw notBuilt(Failures.reason(e));
        }
    }

    private static CommandFailure notBuilt(String problem) {
        return new CommandFailure(
                "the programs with Kafka are not built (%s); remove %s and run the command again"
                        .formatted(
                                problem,
                                Installation.home().resolve("java/cli/target/launcher.stamp")));
    }
}
