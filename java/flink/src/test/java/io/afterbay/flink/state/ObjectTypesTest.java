package io.afterbay.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.BigDecSerializer;
import org.apache.flink.api.common.typeutils.base.BigIntSerializer;
import org.apache.flink.api.common.typeutils.base.DateSerializer;
import org.apache.flink.api.common.typeutils.base.DoubleSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.typeutils.runtime.NullableSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.ttl.TtlStateFactory.TtlSerializer;
import org.apache.flink.table.runtime.typeutils.StringDataSerializer;
import org.junit.jupiter.api.Test;

class ObjectTypesTest {
    private static TypeSerializer<?> withTtl(TypeSerializer<?> values) {
        return new TtlSerializer<>(LongSerializer.INSTANCE, values);
    }

    @Test
    void sharesWhatNobodyCanChange() {
        assertThat(
                        List.<TypeSerializer<?>>of(
                                LongSerializer.INSTANCE,
                                StringSerializer.INSTANCE,
                                BigDecSerializer.INSTANCE,
                                withTtl(LongSerializer.INSTANCE)))
                .allMatch(ObjectTypes::canBeShared);
    }

    @Test
    void sharesNothingElse() {
        TypeSerializer<?> lists = new ListSerializer<>(LongSerializer.INSTANCE);
        assertThat(
                        List.of(
                                lists,
                                withTtl(lists),
                                DateSerializer.INSTANCE,
                                NullableSerializer.wrap(LongSerializer.INSTANCE, false)))
                .noneMatch(ObjectTypes::canBeShared);
    }

    /** Its serializer says that it is immutable, but its bytes may lie in memory that is reused. */
    @Test
    void sharesNoStringsOfSql() {
        assertThat(StringDataSerializer.INSTANCE.isImmutableType()).isTrue();
        assertThat(ObjectTypes.canBeShared(StringDataSerializer.INSTANCE)).isFalse();
        assertThat(ObjectTypes.canBeShared(withTtl(StringDataSerializer.INSTANCE))).isFalse();
    }

    @Test
    void looksUpByEqualsOnlyWhatHasEqualBytes() throws Exception {
        assertThat(ObjectTypes.canBeKeys(LongSerializer.INSTANCE)).isTrue();
        assertThat(ObjectTypes.canBeKeys(DoubleSerializer.INSTANCE)).isTrue();
        assertThat(ObjectTypes.canBeKeys(StringSerializer.INSTANCE)).isTrue();
        assertThat(ObjectTypes.canBeKeys(BigIntSerializer.INSTANCE)).isFalse();
        assertThat(ObjectTypes.canBeKeys(BigDecSerializer.INSTANCE)).isFalse();
        BigInteger zero = new BigInteger(new byte[] {0});
        assertThat(zero).isEqualTo(BigInteger.ZERO);
        assertThat(bytes(BigIntSerializer.INSTANCE, zero))
                .isNotEqualTo(bytes(BigIntSerializer.INSTANCE, BigInteger.ZERO));
    }

    @Test
    void equalDoublesHaveEqualBytes() throws Exception {
        double otherNan = Double.longBitsToDouble(0x7ff8000000000001L);
        assertThat(bytes(otherNan)).isEqualTo(bytes(Double.NaN));
        assertThat(bytes(0.0)).isNotEqualTo(bytes(-0.0));
        assertThat(Double.valueOf(0.0).equals(-0.0)).isFalse();
    }

    private static byte[] bytes(double value) throws Exception {
        return bytes(DoubleSerializer.INSTANCE, value);
    }

    private static <T> byte[] bytes(TypeSerializer<T> serializer, T value) throws Exception {
        DataOutputSerializer out = new DataOutputSerializer(8);
        serializer.serialize(value, out);
        return out.getCopyOfBuffer();
    }
}
