package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.StateRegistry;
import io.afterbay.flink.timers.TimerQueues;
import io.afterbay.store.StateStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointKeyedStateHandle;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.util.IOUtils;

/** Fills an empty store from the handles of a checkpoint or savepoint; tells foreign ones apart. */
public final class StateRestore<K> {
    private final NativeRestore<K> nativeRestore;
    private final CanonicalRestore<K> canonicalRestore;
    private final CloseableRegistry cancelRegistry;

    public StateRestore(
            StateStore store,
            StateRegistry registry,
            TimerQueues timers,
            StateSerializerProvider<K> keySerializer,
            KeyGroupRange keyGroups,
            int totalKeyGroups,
            ClassLoader classLoader,
            CloseableRegistry cancelRegistry) {
        RestoredStates restored = new RestoredStates(store, registry, timers);
        this.nativeRestore =
                new NativeRestore<>(
                        restored, new KeySerializerCheck<>(keySerializer), keyGroups, classLoader);
        this.canonicalRestore =
                new CanonicalRestore<>(
                        restored, keySerializer, keyGroups, totalKeyGroups, classLoader);
        this.cancelRegistry = cancelRegistry;
    }

    public void restore(Collection<KeyedStateHandle> handles) throws Exception {
        List<KeyedStateHandle> canonical = new ArrayList<>();
        for (KeyedStateHandle handle : handles) {
            if (handle != null && !restoreNative(handle)) {
                canonical.add(handle);
            }
        }
        if (!canonical.isEmpty()) {
            canonicalRestore.restore(canonical);
        }
    }

    /** False if the handle is a canonical savepoint. */
    private boolean restoreNative(KeyedStateHandle handle) throws Exception {
        if (!(handle instanceof KeyGroupsStateHandle groups)) {
            throw ForeignSnapshots.refuse(handle);
        }
        FSDataInputStream in = groups.openInputStream();
        cancelRegistry.registerCloseable(in);
        try {
            if (NativeRestore.recognises(in.readNBytes(SnapshotFormat.MAGIC.length))) {
                nativeRestore.restore(groups, in);
                return true;
            }
        } finally {
            if (cancelRegistry.unregisterCloseable(in)) {
                IOUtils.closeQuietly(in);
            }
        }
        if (handle instanceof SavepointKeyedStateHandle) {
            return false;
        }
        throw ForeignSnapshots.refuse(handle);
    }
}
