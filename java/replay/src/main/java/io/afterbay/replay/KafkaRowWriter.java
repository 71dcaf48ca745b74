package io.afterbay.replay;

import io.afterbay.replay.merge.Envelope;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** The KafkaRecordSerializationSchema of a sink behind a merge: rows become records as they are. */
final class KafkaRowWriter implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1;

    private final KafkaRecordsOfTask records = new KafkaRecordsOfTask();

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
            throws Throwable {
        if (method.getName().equals("serialize") && arguments != null) {
            return records.get(proxy).record(Envelope.row((byte[]) arguments[0]));
        }
        return method.getDeclaringClass() == Object.class
                ? ProxyMethods.ofObject(this, proxy, method, arguments)
                : null; // open
    }
}
