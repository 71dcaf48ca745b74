package io.afterbay.store.testkit;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.StoreStats;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import io.afterbay.store.redo.RedoSink;
import java.util.BitSet;
import java.util.Map;

/** Does all that another store does; subclasses do some of it otherwise. */
abstract class ForwardingStore implements StateStore {
    final StateStore store;

    ForwardingStore(StateStore store) {
        this.store = store;
    }

    @Override
    public ValueStore values(String name) {
        return store.values(name);
    }

    @Override
    public ListStore lists(String name, ReadAlignment alignment) {
        return store.lists(name, alignment);
    }

    @Override
    public MapStore maps(String name) {
        return store.maps(name);
    }

    @Override
    public TriggerSchedule triggers(String name) {
        return store.triggers(name);
    }

    @Override
    public void drop(String name) {
        store.drop(name);
    }

    @Override
    public void releaseReaders() {
        store.releaseReaders();
    }

    @Override
    public StoreSnapshot snapshot() {
        return store.snapshot();
    }

    @Override
    public void startRedo(RedoSink sink) {
        store.startRedo(sink);
    }

    @Override
    public void flushRedo() {
        store.flushRedo();
    }

    @Override
    public void expectSnapshot(boolean expected) {
        store.expectSnapshot(expected);
    }

    @Override
    public boolean isSnapshotPrepared() {
        return store.isSnapshotPrepared();
    }

    @Override
    public void beginReplay(long bytes) {
        store.beginReplay(bytes);
    }

    @Override
    public void continueReplay() {
        store.continueReplay();
    }

    @Override
    public void endReplay() {
        store.endReplay();
    }

    @Override
    public void resumeRedo(RedoSink sink) {
        store.resumeRedo(sink);
    }

    @Override
    public Map<Integer, BitSet> chunksOf(int firstKeyGroup, int lastKeyGroup) {
        return store.chunksOf(firstKeyGroup, lastKeyGroup);
    }

    @Override
    public void endRedo() {
        store.endRedo();
    }

    @Override
    public StoreStats stats() {
        return store.stats();
    }

    @Override
    public boolean hasFailed() {
        return store.hasFailed();
    }

    @Override
    public void close() {
        store.close();
    }
}
