package io.afterbay.flink.snapshot;

import java.io.IOException;
import java.util.Iterator;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;

/** The elements of a heap queue in canonical form: key group and element are the key. */
final class CanonicalElements<T> implements CanonicalEntries {
    private static final byte[] EMPTY = new byte[0];

    private final Iterator<T> elements;
    private final TypeSerializer<T> serializer;
    private final int keyGroup;
    private final int prefixBytes;
    private final DataOutputSerializer out = new DataOutputSerializer(128);
    private byte[] key = EMPTY;

    CanonicalElements(HeapPriorityQueueStateSnapshot<T> queue, int keyGroup, int prefixBytes) {
        this.elements = queue.getIteratorForKeyGroup(keyGroup);
        this.serializer = queue.getMetaInfo().getElementSerializer();
        this.keyGroup = keyGroup;
        this.prefixBytes = prefixBytes;
    }

    @Override
    public boolean next() throws IOException {
        if (!elements.hasNext()) {
            return false;
        }
        out.clear();
        CompositeKeySerializationUtils.writeKeyGroup(keyGroup, prefixBytes, out);
        serializer.serialize(elements.next(), out);
        key = out.getCopyOfBuffer();
        return true;
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public byte[] value() {
        return EMPTY;
    }

    @Override
    public void close() {}
}
