package io.afterbay.flink.snapshot;

import io.afterbay.flink.snapshot.RestoredStates.Target;
import io.afterbay.flink.state.StateRegistry;
import io.afterbay.flink.timers.TimerQueues;
import io.afterbay.store.StateStore;
import java.io.InputStream;
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
    private final StateCopy copies;
    private final KeyGroupRange keyGroups;
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
        this.copies = new StateCopy(restored);
        this.keyGroups = keyGroups;
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

    /**
     * Registers the states that {@link SnapshotWriter#writeStates} wrote, of a store whose content
     * is there already.
     *
     * @param source names the file, for messages
     * @param written the key groups of the writer
     */
    public void restoreStates(InputStream states, String source, KeyGroupRange written)
            throws Exception {
        nativeRestore.restoreStates(states, source, written);
    }

    /**
     * As {@link #restoreStates}, and copies the entries of our key groups from another store.
     *
     * @param betweenKeyGroups is called now and then
     */
    public void copy(
            InputStream states,
            String source,
            KeyGroupRange written,
            StateStore from,
            Runnable betweenKeyGroups)
            throws Exception {
        List<Target> targets = nativeRestore.restoreStates(states, source, written);
        copies.copy(from, targets, keyGroups.getIntersection(written), betweenKeyGroups);
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
