package io.afterbay.workloads.run;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Collection;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** What a checkpoint of a sink remembers of its {@link ReplayableFile}: how far it was written. */
public record FilePosition(String file, long bytes) {

    /** For the state of the sink's writer. */
    public static SimpleVersionedSerializer<FilePosition> serializer() {
        return new VersionedSerializer<>(FilePosition::write, FilePosition::read);
    }

    /**
     * Continues a file where a checkpoint remembers it, or creates it. A job that starts from the
     * savepoint of another but writes to another file writes there what comes after the savepoint.
     */
    public static ReplayableFile open(
            String name, String header, Collection<FilePosition> positions)
            throws WorkloadException {
        for (FilePosition position : positions) {
            if (position.file().equals(name)) {
                return ReplayableFile.resume(name, position.bytes());
            }
        }
        return ReplayableFile.create(name, header);
    }

    private void write(DataOutputStream out) throws IOException {
        out.writeUTF(file);
        out.writeLong(bytes);
    }

    private static FilePosition read(DataInputStream in) throws IOException {
        return new FilePosition(in.readUTF(), in.readLong());
    }
}
