package io.afterbay.workloads.run;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Flink's versioned serializer from a pair of methods; there is one version so far. */
public final class VersionedSerializer<T> implements SimpleVersionedSerializer<T>, Serializable {
    private static final long serialVersionUID = 1;
    private static final int VERSION = 1;

    /** Writes a value. */
    public interface Writer<T> extends Serializable {
        void write(T value, DataOutputStream out) throws IOException;
    }

    /** Reads what the writer wrote. */
    public interface Reader<T> extends Serializable {
        T read(DataInputStream in) throws IOException;
    }

    private final Writer<T> writer;
    private final Reader<T> reader;

    public VersionedSerializer(Writer<T> writer, Reader<T> reader) {
        this.writer = writer;
        this.reader = reader;
    }

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(T value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        writer.write(value, new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    @Override
    public T deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException(
                    "state of this job has format %d, this version reads %d"
                                    .formatted(version, VERSION)
                            + "; resume it with the version that wrote it");
        }
        return reader.read(new DataInputStream(new ByteArrayInputStream(serialized)));
    }
}
