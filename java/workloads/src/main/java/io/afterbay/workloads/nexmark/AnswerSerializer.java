package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** The time, the number of columns in one byte, and the columns. */
public final class AnswerSerializer extends ImmutableSerializer<Answer> {
    private static final long serialVersionUID = 1;

    @Override
    public Answer createInstance() {
        return new Answer(0);
    }

    @Override
    public void serialize(Answer answer, DataOutputView target) throws IOException {
        target.writeLong(answer.timeMillis());
        target.writeByte(answer.values().length);
        for (long value : answer.values()) {
            target.writeLong(value);
        }
    }

    @Override
    public Answer deserialize(DataInputView source) throws IOException {
        long timeMillis = source.readLong();
        long[] values = new long[source.readByte()];
        for (int i = 0; i < values.length; i++) {
            values[i] = source.readLong();
        }
        return new Answer(timeMillis, values);
    }

    @Override
    public TypeSerializerSnapshot<Answer> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format has one version. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Answer> {
        public Snapshot() {
            super(AnswerSerializer::new);
        }
    }
}
