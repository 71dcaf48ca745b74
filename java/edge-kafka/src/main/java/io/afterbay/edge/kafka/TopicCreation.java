package io.afterbay.edge.kafka;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/** The program that makes a topic: HOST:PORT of a broker, name, partitions. */
public final class TopicCreation {
    private TopicCreation() {}

    public static void main(String[] args) throws InterruptedException {
        NewTopic topic = new NewTopic(args[1], Integer.parseInt(args[2]), (short) 1);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
            admin.createTopics(List.of(topic)).all().get();
        } catch (ExecutionException e) {
            System.err.printf("topic %s at %s: %s%n", topic.name(), args[0], e.getCause());
            System.exit(1);
        }
    }
}
