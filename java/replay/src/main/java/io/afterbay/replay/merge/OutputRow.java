package io.afterbay.replay.merge;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of an output whose rows have keys, in the bytes of its log. Of one key, the row that is
 * last in the log is what the table has. Arrays are not copied and must not be changed.
 */
public final class OutputRow {
    private static final int NULL = -1;

    /** What is written beside a row. */
    public static final class Header {
        private final String name;
        private final byte @Nullable [] value;

        public Header(String name, byte @Nullable [] value) {
            this.name = name;
            this.value = value;
        }

        public String name() {
            return name;
        }

        public byte @Nullable [] value() {
            return value;
        }
    }

    private final String topic;
    private final @Nullable Integer partition;
    private final @Nullable Long timestampMs;
    private final byte @Nullable [] key;
    private final byte @Nullable [] value;
    private final List<Header> headers;

    /**
     * @param partition null if the log chooses one by the key
     * @param timestampMs null if it is to be the time at which the row is written
     * @param value null for a row that deletes its key
     */
    public OutputRow(
            String topic,
            @Nullable Integer partition,
            @Nullable Long timestampMs,
            byte @Nullable [] key,
            byte @Nullable [] value,
            List<Header> headers) {
        this.topic = topic;
        this.partition = partition;
        this.timestampMs = timestampMs;
        this.key = key;
        this.value = value;
        this.headers = List.copyOf(headers);
    }

    public String topic() {
        return topic;
    }

    /** Null if the log chooses one by the key; never null for a row that was read. */
    public @Nullable Integer partition() {
        return partition;
    }

    /** Milliseconds since 1970; null if it is to be the time at which the row is written. */
    public @Nullable Long timestampMs() {
        return timestampMs;
    }

    public byte @Nullable [] key() {
        return key;
    }

    /** Null for a row that deletes its key. */
    public byte @Nullable [] value() {
        return value;
    }

    public List<Header> headers() {
        return headers;
    }

    /** With one header of a name, in place of those that it had. */
    OutputRow with(Header header) {
        List<Header> others = new ArrayList<>(headers);
        others.removeIf(known -> known.name().equals(header.name()));
        others.add(header);
        return new OutputRow(topic, partition, timestampMs, key, value, others);
    }

    boolean hasValueOf(OutputRow other) {
        return Arrays.equals(value, other.value);
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(topic);
        out.writeInt(partition == null ? NULL : partition);
        out.writeBoolean(timestampMs != null);
        out.writeLong(timestampMs == null ? 0 : timestampMs);
        write(key, out);
        write(value, out);
        out.writeInt(headers.size());
        for (Header header : headers) {
            out.writeUTF(header.name());
            write(header.value(), out);
        }
    }

    static OutputRow read(DataInput in) throws IOException {
        String topic = in.readUTF();
        int partition = in.readInt();
        boolean hasTimestamp = in.readBoolean();
        long timestampMs = in.readLong();
        byte[] key = readBytes(in);
        byte[] value = readBytes(in);
        List<Header> headers = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            headers.add(new Header(in.readUTF(), readBytes(in)));
        }
        return new OutputRow(
                topic,
                partition == NULL ? null : partition,
                hasTimestamp ? timestampMs : null,
                key,
                value,
                headers);
    }

    private static void write(byte @Nullable [] bytes, DataOutput out) throws IOException {
        out.writeInt(bytes == null ? NULL : bytes.length);
        if (bytes != null) {
            out.write(bytes);
        }
    }

    private static byte @Nullable [] readBytes(DataInput in) throws IOException {
        int length = in.readInt();
        if (length == NULL) {
            return null;
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }
}
