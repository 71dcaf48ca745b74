package io.afterbay.replay;

import io.afterbay.replay.merge.Resolver;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * What a KafkaSink of a job writes to, read and written as rows with keys. The connector is the
 * job's, so its classes are met by their names.
 */
final class KafkaOutput {
    private static final String CONNECTOR = "org.apache.flink.connector.kafka.";
    private static final String SERIALIZER = CONNECTOR + "sink.KafkaRecordSerializationSchema";
    private static final String DESERIALIZER =
            CONNECTOR + "source.reader.deserializer.KafkaRecordDeserializationSchema";
    private static final String SOURCE = CONNECTOR + "source.KafkaSource";
    private static final String OFFSETS =
            CONNECTOR + "source.enumerator.initializer.OffsetsInitializer";
    private static final String GUARANTEE = "deliveryGuarantee";
    private static final String TOPICS = CONNECTOR + "lineage.KafkaDatasetFacetProvider";

    /** Of serializers that the connector makes: where they have that of keys. */
    private static final List<String> KEY_FIELDS =
            List.of("keySerializationSchema", "keySerialization");

    /** Of serializers of SQL tables. */
    private static final String UPSERTS = "upsertMode";

    /** What a producer and a consumer both know, and each its own way. */
    private static final List<String> OF_PRODUCERS =
            List.of(
                    "key.serializer",
                    "value.serializer",
                    "interceptor.classes",
                    "transactional.id",
                    "client.id");

    private final String name;
    private final Object sink;
    private final Object serializer;
    private final ClassLoader connector;

    private KafkaOutput(String name, Object sink, Object serializer) {
        this.name = name;
        this.sink = sink;
        this.serializer = serializer;
        this.connector = sink.getClass().getClassLoader();
    }

    /**
     * @param name of the sink's operator
     * @param sink a KafkaSink
     */
    static KafkaOutput of(String name, Object sink) throws ReplayRefusedException {
        KafkaOutput output = new KafkaOutput(name, sink, Fields.required(sink, "recordSerializer"));
        output.requireKeys();
        output.requireUpserts();
        return output;
    }

    private void requireKeys() throws ReplayRefusedException {
        for (String field : KEY_FIELDS) {
            if (Fields.has(serializer, field) && Fields.get(serializer, field) == null) {
                throw refusal(
                        "its records have no key, so nothing tells which of the live job's they are in conflict with. Give them one (setKeySerializationSchema; in SQL a PRIMARY KEY and the connector upsert-kafka), or let the replay write to an output of its own");
            }
        }
    }

    /** A table of SQL may have keys, and nevertheless be a log of what happened. */
    private void requireUpserts() throws ReplayRefusedException {
        if (Fields.has(serializer, UPSERTS)
                && Boolean.FALSE.equals(Fields.get(serializer, UPSERTS))) {
            throw refusal(
                    "tables of the connector kafka are logs, in which a row does not replace others of its key. Use upsert-kafka with a PRIMARY KEY if it is a table, or let the replay write to an output of its own");
        }
    }

    private ReplayRefusedException refusal(String why) {
        return new ReplayRefusedException(
                "sink '%s' cannot be merged with the live job's output: %s".formatted(name, why));
    }

    List<String> topics() throws ReplayRefusedException {
        try {
            Class<?> provider = type(TOPICS);
            if (provider.isInstance(serializer)) {
                Object facet =
                        ((Optional<?>)
                                        provider.getMethod("getKafkaDatasetFacet")
                                                .invoke(serializer))
                                .orElse(null);
                List<String> topics = facet == null ? null : topics(facet);
                if (topics != null && !topics.isEmpty()) {
                    return topics;
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new ReplayRefusedException(
                    "the connector for Kafka of this job has no " + TOPICS, e);
        }
        throw refusal(
                "its topics are chosen row by row, by a %s, and a merge must know them before. Give it a topic by setTopic, or let the replay write to an output of its own"
                        .formatted(serializer.getClass().getName()));
    }

    private static @Nullable List<String> topics(Object facet) throws ReflectiveOperationException {
        Object identifier = ask(facet, "getTopicIdentifier");
        List<String> topics = new ArrayList<>();
        if (identifier != null && ask(identifier, "getTopics") instanceof List<?> known) {
            known.forEach(topic -> topics.add((String) topic));
        }
        return topics;
    }

    private static @Nullable Object ask(Object object, String question)
            throws ReflectiveOperationException {
        return object.getClass().getMethod(question).invoke(object);
    }

    private Class<?> type(String className) throws ReplayRefusedException {
        try {
            return Class.forName(className, false, connector);
        } catch (ClassNotFoundException e) {
            throw new ReplayRefusedException(
                    "the connector for Kafka of this job has no " + className, e);
        }
    }

    /** Makes rows of what the sink is given. */
    StreamOperatorFactory<byte[]> rows(Resolver resolver) throws ReplayRefusedException {
        return SimpleOperatorFactory.of(
                new KafkaRows<>((Serializable) serializer, properties(), resolver));
    }

    private Properties properties() throws ReplayRefusedException {
        return (Properties) Fields.required(sink, "kafkaProducerConfig");
    }

    /**
     * From now on the sink writes rows as they are, and loses none: the merge waits for each of
     * them.
     */
    void takeRows() throws ReplayRefusedException {
        Fields.set(sink, "recordSerializer", proxy(SERIALIZER, new KafkaRowWriter()));
        // With 0 or 1, rows that were lost look as if they were written.
        properties().setProperty("acks", "all");
        Enum<?> guarantee = (Enum<?>) Fields.required(sink, GUARANTEE);
        if (guarantee.name().equals("NONE")) {
            Fields.set(sink, GUARANTEE, atLeastOnce(guarantee));
        }
    }

    private static Object atLeastOnce(Enum<?> guarantee) {
        return Enum.valueOf(guarantee.getDeclaringClass(), "AT_LEAST_ONCE");
    }

    private Object proxy(String className, InvocationHandler handler)
            throws ReplayRefusedException {
        Class<?> type = type(className);
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    /**
     * All that is committed in the topics, without an end.
     *
     * @param sinceMs from the first record of each partition with that timestamp, or a newer one
     */
    Source<byte[], ?, ?> log(long sinceMs, String replayId, Resolver resolver)
            throws ReplayRefusedException {
        try {
            Object builder = type(SOURCE).getMethod("builder").invoke(null);
            set(builder, "setProperties", Properties.class, consumer(replayId));
            set(builder, "setTopics", List.class, topics());
            Object start = type(OFFSETS).getMethod("timestamp", long.class).invoke(null, sinceMs);
            set(builder, "setStartingOffsets", type(OFFSETS), start);
            Object rows = proxy(DESERIALIZER, new KafkaRowReader(resolver));
            set(builder, "setDeserializer", type(DESERIALIZER), rows);
            return source(builder.getClass().getMethod("build").invoke(builder));
        } catch (InvocationTargetException e) {
            throw refusal("its topics cannot be read: " + e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new ReplayRefusedException(
                    "the connector for Kafka of this job is not known: " + e.getMessage(), e);
        }
    }

    @SuppressWarnings("unchecked") // Its deserializer makes them.
    private static Source<byte[], ?, ?> source(Object built) throws ReplayRefusedException {
        Properties properties = (Properties) Fields.required(built, "props");
        // What retention takes away before it was read is a failure, not a gap.
        properties.setProperty("auto.offset.reset", "none");
        return (Source<byte[], ?, ?>) built;
    }

    private static void set(Object builder, String method, Class<?> type, Object value)
            throws ReflectiveOperationException {
        builder.getClass().getMethod(method, type).invoke(builder, value);
    }

    private Properties consumer(String replayId) throws ReplayRefusedException {
        Properties consumer = new Properties();
        consumer.putAll(properties());
        OF_PRODUCERS.forEach(consumer::remove);
        consumer.setProperty("client.id.prefix", "afterbay-replay-" + replayId);
        consumer.setProperty("commit.offsets.on.checkpoint", "false");
        // What the live job has not committed may never be.
        consumer.setProperty("isolation.level", "read_committed");
        // With other partitions, keys would be in others, too.
        consumer.setProperty("partition.discovery.interval.ms", "-1");
        return consumer;
    }
}
