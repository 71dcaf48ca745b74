package io.afterbay.replay;

import io.afterbay.replay.BoundedSource.Bounds;
import java.lang.reflect.Proxy;
import java.util.Properties;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceSplit;
import org.jspecify.annotations.Nullable;

/**
 * Makes a KafkaSource read the offsets of a range and end, without a trace in Kafka of the job that
 * it is part of. The connector is the job's, so its classes are met by their names.
 */
final class KafkaSources {
    private static final String SOURCE = "org.apache.flink.connector.kafka.source.KafkaSource";
    private static final String OFFSETS =
            "org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer";

    private static final String GROUP = "group.id";
    private static final String CLIENT_PREFIX = "client.id.prefix";

    private KafkaSources() {}

    static boolean isOne(Source<?, ?, ?> source) {
        return Fields.isA(source, SOURCE);
    }

    static <T, SplitT extends SourceSplit, EnumT> BoundedSource<T, SplitT, EnumT> bound(
            Source<T, SplitT, EnumT> source, String name, ReplayRange range, String replayId)
            throws ReplayRefusedException {
        Source<T, SplitT, EnumT> copy = Fields.copy(source);
        Object start = offsetsAt(source, range.fromMs());
        Fields.set(copy, "startingOffsetsInitializer", checked(start, range, name));
        Fields.set(copy, "stoppingOffsetsInitializer", offsetsAt(source, range.toMs()));
        Fields.set(copy, "boundedness", Boundedness.BOUNDED);
        Properties properties = (Properties) Fields.get(copy, "props");
        if (properties == null) {
            throw new ReplayRefusedException("source '" + name + "' has no properties");
        }
        String group = separate(properties, replayId);
        return new BoundedSource<>(
                copy,
                Bounds.KAFKA_OFFSETS,
                "offsets of %s by the time in Kafka's log, at most up to where the log ends when the replay begins; group %s, no offsets committed"
                        .formatted(range, group));
    }

    /** Returns the group. */
    private static String separate(Properties properties, String replayId) {
        String group = derived(properties.getProperty(GROUP), replayId);
        properties.setProperty(GROUP, group);
        properties.setProperty(
                CLIENT_PREFIX, derived(properties.getProperty(CLIENT_PREFIX), replayId));
        properties.setProperty("commit.offsets.on.checkpoint", "false");
        properties.setProperty("enable.auto.commit", "false");
        // What retention takes away while the replay runs is a failure, not a gap.
        properties.setProperty("auto.offset.reset", "none");
        // Otherwise it waits for further partitions, and never ends.
        properties.setProperty("partition.discovery.interval.ms", "-1");
        return group;
    }

    private static String derived(@Nullable String of, String replayId) {
        return (of == null ? "afterbay" : of) + "-replay-" + replayId;
    }

    /** The first offset of each partition that is not before a time, or else its end. */
    private static Object offsetsAt(Source<?, ?, ?> source, long ms) throws ReplayRefusedException {
        try {
            return Class.forName(OFFSETS, false, source.getClass().getClassLoader())
                    .getMethod("timestamp", long.class)
                    .invoke(null, ms);
        } catch (ReflectiveOperationException e) {
            throw new ReplayRefusedException(
                    "the connector for Kafka of this job has no " + OFFSETS + ".timestamp", e);
        }
    }

    private static Object checked(Object start, ReplayRange range, String name)
            throws ReplayRefusedException {
        try {
            Class<?> type = Class.forName(OFFSETS, false, start.getClass().getClassLoader());
            return Proxy.newProxyInstance(
                    type.getClassLoader(),
                    new Class<?>[] {type},
                    new RetainedOffsets(start, range.fromMs(), name));
        } catch (ClassNotFoundException e) {
            throw new ReplayRefusedException("no " + OFFSETS, e);
        }
    }
}
