package io.afterbay.workloads.nexmark;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Two longs: 16 bytes. */
public final class PersonSerializer extends ImmutableSerializer<Person> {
    static final int BYTES = 2 * Long.BYTES;

    private static final long serialVersionUID = 1;

    @Override
    public Person createInstance() {
        return new Person(0, 0);
    }

    @Override
    public int getLength() {
        return BYTES;
    }

    @Override
    public void serialize(Person person, DataOutputView target) throws IOException {
        target.writeLong(person.id());
        target.writeLong(person.profile());
    }

    @Override
    public Person deserialize(DataInputView source) throws IOException {
        return new Person(source.readLong(), source.readLong());
    }

    @Override
    public TypeSerializerSnapshot<Person> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format has one version. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Person> {
        public Snapshot() {
            super(PersonSerializer::new);
        }
    }
}
