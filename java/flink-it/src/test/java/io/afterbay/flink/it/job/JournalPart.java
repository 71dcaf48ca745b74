package io.afterbay.flink.it.job;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.TreeMap;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A partition and how far it has been read.
 *
 * @param next the next posting to emit
 */
record JournalPart(int partition, int next) implements SourceSplit {
    @Override
    public String splitId() {
        return String.valueOf(partition);
    }

    /** Writes a part as two ints. */
    static final class PartSerializer implements SimpleVersionedSerializer<JournalPart> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(JournalPart part) {
            return put(ByteBuffer.allocate(8), part).array();
        }

        @Override
        public JournalPart deserialize(int version, byte[] bytes) throws IOException {
            return get(ByteBuffer.wrap(bytes));
        }
    }

    /** Writes the parts that no reader has got yet. */
    static final class PendingSerializer
            implements SimpleVersionedSerializer<TreeMap<Integer, JournalPart>> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(TreeMap<Integer, JournalPart> pending) {
            ByteBuffer bytes = ByteBuffer.allocate(pending.size() * 8);
            pending.values().forEach(part -> put(bytes, part));
            return bytes.array();
        }

        @Override
        public TreeMap<Integer, JournalPart> deserialize(int version, byte[] bytes) {
            TreeMap<Integer, JournalPart> pending = new TreeMap<>();
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                addTo(pending, get(buffer));
            }
            return pending;
        }
    }

    static void addTo(TreeMap<Integer, JournalPart> parts, Collection<JournalPart> added) {
        added.forEach(part -> addTo(parts, part));
    }

    private static void addTo(TreeMap<Integer, JournalPart> parts, JournalPart part) {
        parts.put(part.partition, part);
    }

    private static ByteBuffer put(ByteBuffer bytes, JournalPart part) {
        return bytes.putInt(part.partition).putInt(part.next);
    }

    private static JournalPart get(ByteBuffer bytes) {
        return new JournalPart(bytes.getInt(), bytes.getInt());
    }
}
