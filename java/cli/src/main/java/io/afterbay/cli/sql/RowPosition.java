package io.afterbay.cli.sql;

import io.afterbay.workloads.run.VersionedSerializer;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** What a checkpoint remembers of a {@link RowSink}: how many rows came, and the file's length. */
record RowPosition(long rows, long bytes) {
    static SimpleVersionedSerializer<RowPosition> serializer() {
        return new VersionedSerializer<>(RowPosition::write, RowPosition::read);
    }

    private void write(DataOutputStream out) throws IOException {
        out.writeLong(rows);
        out.writeLong(bytes);
    }

    private static RowPosition read(DataInputStream in) throws IOException {
        return new RowPosition(in.readLong(), in.readLong());
    }
}
