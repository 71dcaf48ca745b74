package io.afterbay.edge;

import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.testing.OwnJvm;
import io.afterbay.testing.RustPrograms;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The verbs in a process whose class path has no Kafka, as that of users. */
public final class EdgeProcess {
    private EdgeProcess() {}

    /** What a verb has said. */
    public record Answer(int code, String out, String err) {}

    /**
     * Runs a verb.
     *
     * @param directory for what it says
     */
    public static Answer withoutKafka(Path directory, String... arguments) throws Exception {
        List<Path> kafka = connector();
        List<String> command =
                OwnJvm.command(
                        OwnJvm.classPathWithout(kafka::contains),
                        Edge.class.getName(),
                        List.of(
                                "-D%s=%s"
                                        .formatted(
                                                EdgeProgram.PROPERTY,
                                                RustPrograms.path("afterbay-edge"))));
        command.addAll(List.of(arguments));
        Path out = directory.resolve("out.txt");
        Path err = directory.resolve("err.txt");
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        int code = process.waitFor();
        return new Answer(code, Files.readString(out), Files.readString(err));
    }

    /** What Kafka's connector needs beside Flink. */
    public static List<Path> connector() throws Exception {
        List<Path> jars = new ArrayList<>();
        for (Class<?> one : List.of(KafkaSource.class, KafkaConsumer.class)) {
            jars.add(Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()));
        }
        return jars;
    }

    /** Arguments that name it. */
    public static List<String> kafkaJars() throws Exception {
        List<String> arguments = new ArrayList<>();
        for (Path jar : connector()) {
            arguments.addAll(List.of("--jar", jar.toString()));
        }
        return arguments;
    }
}
