package io.afterbay.replay;

import io.afterbay.replay.merge.Envelope;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** The KafkaRecordSerializationSchema of a sink behind a merge: rows become records as they are. */
final class KafkaRowWriter implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1;

    private transient @Nullable KafkaRecords records;

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
            throws Throwable {
        if (method.getName().equals("serialize") && arguments != null) {
            return records(proxy).record(Envelope.row((byte[]) arguments[0]));
        }
        return method.getDeclaringClass() == Object.class
                ? ProxyMethods.ofObject(this, proxy, method, arguments)
                : null; // open
    }

    private KafkaRecords records(Object proxy) throws IOException {
        KafkaRecords known = records;
        if (known == null) {
            known = new KafkaRecords(proxy.getClass().getClassLoader());
            records = known;
        }
        return known;
    }
}
