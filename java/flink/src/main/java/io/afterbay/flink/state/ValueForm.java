package io.afterbay.flink.state;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.jspecify.annotations.Nullable;

/**
 * How an {@link ObjectEntry} holds its value. Counts and sums are held unboxed: as objects they
 * would be new ones at every update, somewhere in the young generation, and the next use of each
 * key would wait for memory; and an old entry that refers to a young object is work for the
 * collector.
 */
enum ValueForm {
    OBJECT,
    LONG,
    INT;

    static ValueForm of(TypeSerializer<?> serializer) {
        if (serializer instanceof LongSerializer) {
            return LONG;
        }
        return serializer instanceof IntSerializer ? INT : OBJECT;
    }

    /** The value of an entry; null if it stands for none. */
    @SuppressWarnings("unchecked") // the form is that of the serializer
    <V> @Nullable V get(ObjectEntry<?, ?, V> entry) {
        if (!entry.present) {
            return null;
        }
        return switch (this) {
            case LONG -> (V) (Object) entry.number;
            case INT -> (V) (Object) (int) entry.number;
            case OBJECT -> entry.value;
        };
    }

    /** Sets the value of an entry; null for none. */
    <V> void set(ObjectEntry<?, ?, V> entry, @Nullable V value) {
        entry.present = value != null;
        if (this == OBJECT) {
            entry.value = value;
        } else if (value != null) {
            entry.number = ((Number) value).longValue();
        }
    }
}
