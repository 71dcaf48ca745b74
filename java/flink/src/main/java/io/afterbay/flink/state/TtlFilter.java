package io.afterbay.flink.state;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.ttl.TtlUtils;

/**
 * Tells expired values by their bytes: Flink's {@code TtlSerializer} writes the time of the last
 * access, in milliseconds, as a big-endian long in front of the value.
 *
 * @param ttlMillis the time to live
 * @param offset where the timestamp lies in a stored value
 */
public record TtlFilter(long ttlMillis, int offset) {
    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    static TtlFilter of(StateTtlConfig config, StateShape shape) {
        return new TtlFilter(
                config.getTimeToLive().toMillis(),
                shape == StateShape.MAP ? MapValues.HEADER_BYTES : 0);
    }

    /** Whether the configuration lets the backend drop expired values that nobody reads. */
    static boolean wanted(StateTtlConfig config) {
        return config.isEnabled()
                && (config.getCleanupStrategies().inFullSnapshot()
                        || config.getCleanupStrategies().getIncrementalCleanupStrategy() != null);
    }

    public boolean expired(byte[] value, int length, long nowMillis) {
        return expired(timestamp(value, length), nowMillis);
    }

    boolean expired(long timestamp, long nowMillis) {
        return TtlUtils.expired(timestamp, ttlMillis, nowMillis);
    }

    /** The time of the last access; of a value that has none, the end of time. */
    long timestamp(byte[] value, int length) {
        return length < offset + Long.BYTES ? Long.MAX_VALUE : (long) LONG.get(value, offset);
    }
}
