package io.afterbay.flink.snapshot;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;

/** Writes the entries of one key group in our own format. */
final class KeyGroupWriter {
    private final SnapshotContent<?> content;
    private final Slice element = new Slice();

    KeyGroupWriter(SnapshotContent<?> content) {
        this.content = content;
    }

    void write(int keyGroup, BlockWriter out) throws IOException {
        out.writeShort(keyGroup);
        List<StateImage> states = content.states();
        for (int id = 0; id < states.size(); id++) {
            out.writeShort(id);
            write(states.get(id), keyGroup, out);
            out.writeVarInt(0);
        }
        out.writeShort(SnapshotFormat.END_OF_KEY_GROUP);
        out.end();
    }

    private void write(StateImage state, int keyGroup, BlockWriter out) throws IOException {
        if (state.elements() != null) {
            writeElements(state.elements(), keyGroup, out);
            return;
        }
        try (EntryCursor entries = content.store().fragments(state.storeName(), keyGroup)) {
            while (entries.next()) {
                switch (state.shape()) {
                    case VALUE -> writeValue(state, entries, out);
                    case MAP -> writeMapEntry(state, entries, out);
                    case LIST -> writeList(state, entries, out);
                    case TRIGGERS -> writeTimer(entries, out);
                    default -> throw new IllegalStateException("no entries in " + state.shape());
                }
            }
        }
    }

    private void writeValue(StateImage state, EntryCursor entry, BlockWriter out)
            throws IOException {
        if (!state.expired(entry.value())) {
            writeAddress(entry.key(), out);
            writeBytes(entry.value(), out);
        }
    }

    private void writeMapEntry(StateImage state, EntryCursor entry, BlockWriter out)
            throws IOException {
        if (!state.expired(entry.value())) {
            writeAddress(entry.key(), out);
            writeBytes(entry.userKey(), out);
            writeBytes(entry.value(), out);
        }
    }

    private void writeList(StateImage state, EntryCursor entry, BlockWriter out)
            throws IOException {
        writeAddress(entry.key(), out);
        ListReader.Elements elements = entry.list().elements();
        while (elements.next(element)) {
            if (!state.expired(element)) {
                out.writeVarInt(element.length() + 1);
                out.write(element.array(), 0, element.length());
            }
        }
        out.writeVarInt(0);
    }

    private void writeTimer(EntryCursor entry, BlockWriter out) throws IOException {
        writeAddress(entry.key(), out);
        out.writeLong(entry.timestamp());
    }

    private <T> void writeElements(
            HeapPriorityQueueStateSnapshot<T> elements, int keyGroup, BlockWriter out)
            throws IOException {
        TypeSerializer<T> serializer = elements.getMetaInfo().getElementSerializer();
        DataOutputSerializer buffer = new DataOutputSerializer(64);
        for (Iterator<T> i = elements.getIteratorForKeyGroup(keyGroup); i.hasNext(); ) {
            buffer.clear();
            serializer.serialize(i.next(), buffer);
            out.writeVarInt(buffer.length() + 1);
            out.write(buffer.getSharedBuffer(), 0, buffer.length());
        }
    }

    /** The length of the key is written plus one: zero ends the state. */
    private static void writeAddress(StateKey key, BlockWriter out) throws IOException {
        out.writeVarInt(key.keyLength() + 1);
        out.writeVarInt(key.namespaceLength());
        out.write(key.bytes(), 0, key.length());
    }

    private static void writeBytes(Slice bytes, BlockWriter out) throws IOException {
        out.writeVarInt(bytes.length());
        out.write(bytes.array(), 0, bytes.length());
    }
}
