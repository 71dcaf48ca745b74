package io.afterbay.flink.state;

import java.util.Set;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.api.common.typeutils.base.ByteSerializer;
import org.apache.flink.api.common.typeutils.base.CharSerializer;
import org.apache.flink.api.common.typeutils.base.DoubleSerializer;
import org.apache.flink.api.common.typeutils.base.FloatSerializer;
import org.apache.flink.api.common.typeutils.base.InstantSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LocalDateSerializer;
import org.apache.flink.api.common.typeutils.base.LocalDateTimeSerializer;
import org.apache.flink.api.common.typeutils.base.LocalTimeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.ShortSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.typeutils.runtime.NullableSerializer;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializerSnapshot;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/**
 * Of which types the object tier keeps objects.
 *
 * <p>A store compares keys by their bytes, the tier by {@code equals}. For any type of users' these
 * may differ (a key without {@code equals}, or one that ignores a field), so keys and namespaces
 * are of types that are known to agree. {@code BigInteger} and {@code BigDecimal} do not: their
 * serializers write zero, one and ten in two ways.
 */
final class ObjectTypes {
    private static final Set<Class<?>> EQUAL_AS_THEIR_BYTES =
            Set.of(
                    BooleanSerializer.class,
                    ByteSerializer.class,
                    CharSerializer.class,
                    DoubleSerializer.class,
                    FloatSerializer.class,
                    GlobalWindow.Serializer.class,
                    InstantSerializer.class,
                    IntSerializer.class,
                    LocalDateSerializer.class,
                    LocalDateTimeSerializer.class,
                    LocalTimeSerializer.class,
                    LongSerializer.class,
                    ShortSerializer.class,
                    StringSerializer.class,
                    TimeWindow.Serializer.class,
                    VoidNamespaceSerializer.class);

    private static final String SQL_TYPES = "org.apache.flink.table.";

    private ObjectTypes() {}

    /** Whether objects may be looked up by {@code equals}, and kept without a copy. */
    static boolean canBeKeys(TypeSerializer<?> serializer) {
        return EQUAL_AS_THEIR_BYTES.contains(serializer.getClass());
    }

    /**
     * Whether an object may be shared between a state and the user's code, since nobody changes it.
     *
     * <p>Not all that a serializer calls immutable is: SQL's strings lie in memory that is reused
     * for the next row. What a {@code NullableSerializer} wraps cannot be seen.
     */
    static boolean canBeShared(TypeSerializer<?> serializer) {
        if (serializer instanceof TtlSerializer<?> ttl) {
            return ttl.isImmutableType() && canBeShared(valueSerializer(ttl));
        }
        return serializer.isImmutableType()
                && !(serializer instanceof NullableSerializer<?>)
                && !serializer.getClass().getName().startsWith(SQL_TYPES);
    }

    private static <T> TypeSerializer<T> valueSerializer(TtlSerializer<T> ttl) {
        return ((TtlSerializerSnapshot<T>) ttl.snapshotConfiguration())
                .getValueSerializerSnapshot()
                .restoreSerializer();
    }
}
