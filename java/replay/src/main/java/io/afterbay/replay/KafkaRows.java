package io.afterbay.replay;

import io.afterbay.replay.merge.Envelope;
import io.afterbay.replay.merge.OutputRow;
import io.afterbay.replay.merge.Resolver;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Properties;
import org.apache.flink.api.common.serialization.RuntimeContextInitializationContextAdapters;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Does what the writer of a KafkaSink does with a record before it sends it: the job's own
 * serializer makes a row of it.
 */
final class KafkaRows<T> extends AbstractStreamOperator<byte[]>
        implements OneInputStreamOperator<T, byte[]> {
    private static final long serialVersionUID = 1;

    private static final String SINK = "org.apache.flink.connector.kafka.sink.";
    private static final String SERIALIZER = SINK + "KafkaRecordSerializationSchema";
    private static final String CONTEXT = SINK + "DefaultKafkaSinkContext";

    private final Serializable serializer;
    private final Properties properties;
    private final Resolver resolver;
    private transient @Nullable Object sinkContext;
    private transient @Nullable Method serialize;
    private transient @Nullable KafkaRecords records;

    KafkaRows(Serializable serializer, Properties properties, Resolver resolver) {
        this.serializer = serializer;
        this.properties = properties;
        this.resolver = resolver;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoader userCode = getUserCodeClassloader();
        Class<?> type = Class.forName(SERIALIZER, true, userCode);
        Class<?> contextType = Class.forName(SERIALIZER + "$KafkaSinkContext", true, userCode);
        var task = getRuntimeContext().getTaskInfo();
        sinkContext =
                Class.forName(CONTEXT, true, userCode)
                        .getConstructor(int.class, int.class, Properties.class)
                        .newInstance(
                                task.getIndexOfThisSubtask(),
                                task.getNumberOfParallelSubtasks(),
                                properties);
        serialize = type.getMethod("serialize", Object.class, contextType, Long.class);
        records = new KafkaRecords(userCode);
        type.getMethod("open", SerializationSchema.InitializationContext.class, contextType)
                .invoke(
                        serializer,
                        RuntimeContextInitializationContextAdapters.serializationAdapter(
                                getRuntimeContext()),
                        sinkContext);
    }

    @Override
    public void processElement(StreamRecord<T> element) throws Exception {
        Long timestampMs = element.hasTimestamp() ? element.getTimestamp() : null;
        Object record =
                KafkaRecords.call(
                        Objects.requireNonNull(serialize),
                        serializer,
                        element.getValue(),
                        sinkContext,
                        timestampMs);
        if (record != null) {
            OutputRow row = Objects.requireNonNull(records).produced(record);
            output.collect(new StreamRecord<>(Envelope.of(row, resolver)));
        }
    }
}
