package io.afterbay.flink.snapshot;

import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.FullSnapshotResources;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/** A frozen state in the shape that Flink writes canonical savepoints from. */
public record CanonicalResources<K>(
        SnapshotContent<K> content, StreamCompressionDecorator compression)
        implements FullSnapshotResources<K> {

    @Override
    public List<StateMetaInfoSnapshot> getMetaInfoSnapshots() {
        return content.metaInfos();
    }

    /**
     * @throws java.io.IOException before anything is written, if a value is too large for the
     *     format
     */
    @Override
    public KeyValueStateIterator createKVStateIterator() throws java.io.IOException {
        CanonicalLimit.check(content);
        return new CanonicalIterator(content);
    }

    @Override
    public KeyGroupRange getKeyGroupRange() {
        return content.keyGroups();
    }

    @Override
    public TypeSerializer<K> getKeySerializer() {
        return content.keySerializer();
    }

    @Override
    public StreamCompressionDecorator getStreamCompressionDecorator() {
        return compression;
    }

    @Override
    public void release() {
        content.release();
    }
}
