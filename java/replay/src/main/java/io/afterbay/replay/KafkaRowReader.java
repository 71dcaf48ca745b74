package io.afterbay.replay;

import io.afterbay.replay.merge.Envelope;
import io.afterbay.replay.merge.Resolver;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/** The KafkaRecordDeserializationSchema with which a merge reads the output of a sink. */
final class KafkaRowReader implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1;

    private final Resolver resolver;
    private final KafkaRecordsOfTask records = new KafkaRecordsOfTask();

    KafkaRowReader(Resolver resolver) {
        this.resolver = resolver;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
            throws Throwable {
        switch (method.getName()) {
            case "deserialize":
                if (arguments != null) {
                    collect(proxy, arguments[0], (Collector<?>) arguments[1]);
                }
                return null;
            case "getProducedType":
                return PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;
            default:
                return method.getDeclaringClass() == Object.class
                        ? ProxyMethods.ofObject(this, proxy, method, arguments)
                        : null; // open
        }
    }

    @SuppressWarnings("unchecked") // It is of what getProducedType says.
    private void collect(Object proxy, Object record, Collector<?> out) throws IOException {
        Envelope.of(records.get(proxy).consumed(record), resolver)
                .ifPresent(((Collector<byte[]>) out)::collect);
    }
}
