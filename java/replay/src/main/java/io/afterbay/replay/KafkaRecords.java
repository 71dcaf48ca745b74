package io.afterbay.replay;

import io.afterbay.replay.merge.LogRow;
import io.afterbay.replay.merge.OutputRow;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records of the Kafka clients that are in the job's jar, and rows. Thread safe. */
final class KafkaRecords {
    private static final String PRODUCED = "org.apache.kafka.clients.producer.ProducerRecord";
    private static final String CONSUMED = "org.apache.kafka.clients.consumer.ConsumerRecord";
    private static final String HEADER = "org.apache.kafka.common.header.Header";
    private static final String HEADER_MADE =
            "org.apache.kafka.common.header.internals.RecordHeader";

    /** What a consumer says of a record without one. */
    private static final long NO_TIMESTAMP = -1;

    /** What both kinds of records are asked. */
    private record Getters(
            Method topic,
            Method partition,
            Method timestamp,
            Method key,
            Method value,
            Method headers) {
        static Getters of(Class<?> type) throws NoSuchMethodException {
            return new Getters(
                    type.getMethod("topic"),
                    type.getMethod("partition"),
                    type.getMethod("timestamp"),
                    type.getMethod("key"),
                    type.getMethod("value"),
                    type.getMethod("headers"));
        }
    }

    private final Getters produced;
    private final Getters consumed;
    private final Method offset;
    private final Method headerKey;
    private final Method headerValue;
    private final Constructor<?> header;
    private final Constructor<?> record;

    KafkaRecords(ClassLoader userCode) throws IOException {
        try {
            Class<?> producedType = Class.forName(PRODUCED, true, userCode);
            Class<?> consumedType = Class.forName(CONSUMED, true, userCode);
            Class<?> headerType = Class.forName(HEADER, true, userCode);
            produced = Getters.of(producedType);
            consumed = Getters.of(consumedType);
            offset = consumedType.getMethod("offset");
            headerKey = headerType.getMethod("key");
            headerValue = headerType.getMethod("value");
            header =
                    Class.forName(HEADER_MADE, true, userCode)
                            .getConstructor(String.class, byte[].class);
            record =
                    producedType.getConstructor(
                            String.class,
                            Integer.class,
                            Long.class,
                            Object.class,
                            Object.class,
                            Iterable.class);
        } catch (ReflectiveOperationException e) {
            throw new IOException("the clients of Kafka of this job are not known", e);
        }
    }

    /** Of a record that is to be sent. */
    OutputRow produced(Object sent) throws IOException {
        return row(produced, sent);
    }

    LogRow consumed(Object received) throws IOException {
        return new LogRow(row(consumed, received), (long) ask(offset, received));
    }

    private OutputRow row(Getters getters, Object of) throws IOException {
        Long timestampMs = (Long) call(getters.timestamp(), of);
        return new OutputRow(
                (String) ask(getters.topic(), of),
                (Integer) call(getters.partition(), of),
                timestampMs == null || timestampMs == NO_TIMESTAMP ? null : timestampMs,
                (byte[]) call(getters.key(), of),
                (byte[]) call(getters.value(), of),
                headers((Iterable<?>) ask(getters.headers(), of)));
    }

    private List<OutputRow.Header> headers(Iterable<?> known) throws IOException {
        List<OutputRow.Header> headers = new ArrayList<>();
        for (Object one : known) {
            headers.add(
                    new OutputRow.Header(
                            (String) ask(headerKey, one), (byte[]) call(headerValue, one)));
        }
        return headers;
    }

    /** A record to be sent. */
    Object record(OutputRow row) throws IOException {
        try {
            List<Object> headers = new ArrayList<>();
            for (OutputRow.Header one : row.headers()) {
                headers.add(header.newInstance(one.name(), one.value()));
            }
            return record.newInstance(
                    row.topic(),
                    row.partition(),
                    row.timestampMs(),
                    row.key(),
                    row.value(),
                    headers);
        } catch (ReflectiveOperationException e) {
            throw new IOException("no record of Kafka can be made of a row", e);
        }
    }

    private static Object ask(Method method, Object object) throws IOException {
        Object answer = call(method, object);
        if (answer == null) {
            throw new IOException(method + " has no answer");
        }
        return answer;
    }

    /** What the method throws is thrown as it is, if it is unchecked. */
    static @Nullable Object call(Method method, Object object, @Nullable Object... arguments)
            throws IOException {
        try {
            return method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new IOException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IOException(e);
        }
    }
}
