package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Programs with Kafka, each in a process of its own. They are no part of this module: who runs them
 * says where they are.
 *
 * @param siteClassPath of what runs at a site, the module {@code edge-kafka}
 * @param brokerClassPath of a broker, the module {@code kafka-workloads}
 */
record KafkaPrograms(String siteClassPath, String brokerClassPath) {
    private static final String SITE = "afterbay.edge.kafka.site";
    private static final String BROKER = "afterbay.edge.kafka.broker";

    /** For a minute: the optimising compiler would cost more than it gives. */
    private static final List<String> SHORT_LIVED =
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    /** Those that system properties name. */
    static KafkaPrograms installed() throws CommandFailure {
        return new KafkaPrograms(classPath(SITE), classPath(BROKER));
    }

    private static String classPath(String property) throws CommandFailure {
        String classPath = System.getProperty(property);
        if (classPath == null) {
            throw new CommandFailure(
                    "--whole producers needs the class path of programs with Kafka in the system"
                            + " property "
                            + property
                            + "; './afterbay bench edge' sets it");
        }
        return classPath;
    }

    /**
     * A broker that says HOST:PORT, and the ports of its entrances behind it.
     *
     * @param relays ports that clients are told, one for each entrance
     */
    List<String> broker(Path directory, List<Integer> relays) {
        List<String> arguments = new ArrayList<>(List.of(directory.toString()));
        relays.forEach(port -> arguments.add(String.valueOf(port)));
        return java(
                List.of("-Xmx400m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                brokerClassPath,
                "io.afterbay.kafka.workloads.BrokerProcess",
                arguments);
    }

    /** Makes a topic. */
    List<String> topic(String bootstrap, String topic, int partitions) {
        return java(
                List.of("-Xmx128m"),
                siteClassPath,
                "io.afterbay.edge.kafka.TopicCreation",
                List.of(bootstrap, topic, String.valueOf(partitions)));
    }

    /** Sends the lines of a file that grows to a partition; its heap is for batches of 32 MiB. */
    List<String> producer(String bootstrap, String topic, int partition, Path lines) {
        return java(
                List.of("-Xmx96m"),
                siteClassPath,
                "io.afterbay.edge.kafka.SiteProducer",
                List.of(bootstrap, topic, String.valueOf(partition), lines.toString()));
    }

    private static List<String> java(
            List<String> options, String classPath, String program, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(SHORT_LIVED);
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, program));
        command.addAll(arguments);
        return command;
    }
}
