package io.afterbay.cli.process;

import io.afterbay.command.CommandFailure;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of programs with Kafka. They have a process of their own: Flink's RocksDB
 * (frocksdbjni, on the class path of this one) and Kafka's (rocksdbjni) are two versions of the
 * same classes. The build of the module {@code kafka-workloads} writes it.
 */
public final class KafkaClassPath {
    private static final ModuleClassPath MODULE = new ModuleClassPath("kafka-workloads");

    private KafkaClassPath() {}

    /**
     * @throws CommandFailure if something of it is missing
     */
    public static String read() throws CommandFailure {
        return MODULE.read();
    }

    /**
     * The same with Kafka Streams 4.2, and no broker.
     *
     * @throws CommandFailure if something of it is missing
     */
    public static String before43() throws CommandFailure {
        Path before = MODULE.target().resolve("kafka-before");
        try (Stream<Path> jars = Files.list(before)) {
            Stream<String> others =
                    Stream.of(read().split(File.pathSeparator, -1))
                            .filter(entry -> !entry.contains("org/apache/kafka/"));
            return Stream.concat(jars.map(Path::toString), others)
                    .collect(Collectors.joining(File.pathSeparator));
        } catch (IOException e) {
            throw ModuleClassPath.notBuilt(CommandFailure.reason(e));
        }
    }
}
