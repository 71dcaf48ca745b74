package io.afterbay.flink.snapshot;

import io.afterbay.flink.snapshot.RestoredStates.ElementTarget;
import io.afterbay.flink.snapshot.RestoredStates.KvTarget;
import io.afterbay.flink.snapshot.RestoredStates.Target;
import io.afterbay.flink.snapshot.RestoredStates.TimerTarget;
import io.afterbay.flink.state.KvState;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.io.IOException;
import java.util.List;
import org.apache.flink.core.memory.DataInputDeserializer;

/** Takes in the entries of key groups that {@link KeyGroupWriter} wrote. */
final class KeyGroupReader {
    private final RestoredStates restored;
    private final List<Target> targets;
    private final StateKey key = new StateKey();
    private final Slice address = new Slice();
    private final Slice userKey = new Slice();
    private final Slice value = new Slice();
    private final DataInputDeserializer elementIn = new DataInputDeserializer();

    KeyGroupReader(RestoredStates restored, List<Target> targets) {
        this.restored = restored;
        this.targets = targets;
    }

    void read(int keyGroup, BlockReader in) throws IOException {
        int written = in.readShort();
        if (written != keyGroup) {
            throw in.corrupt("key group " + written);
        }
        for (int id = in.readShort(); id != SnapshotFormat.END_OF_KEY_GROUP; id = in.readShort()) {
            if (id >= targets.size()) {
                throw in.corrupt("a state of number " + id);
            }
            read(targets.get(id), keyGroup, in);
        }
        in.end();
    }

    private void read(Target target, int keyGroup, BlockReader in) throws IOException {
        if (target instanceof KvTarget kv) {
            readState(kv.state(), keyGroup, in);
        } else if (target instanceof TimerTarget timers) {
            readTimers(timers, keyGroup, in);
        } else if (target instanceof ElementTarget elements) {
            readElements(elements, in);
        }
    }

    private void readState(KvState<?, ?> state, int keyGroup, BlockReader in) throws IOException {
        switch (state.shape()) {
            case VALUE -> readValues(restored.store().values(state.storeName()), keyGroup, in);
            case MAP -> readMaps(restored.store().maps(state.storeName()), keyGroup, in);
            case LIST -> readLists(state, keyGroup, in);
            default -> throw new IllegalStateException("no entries in " + state.shape());
        }
    }

    private void readValues(ValueStore values, int keyGroup, BlockReader in) throws IOException {
        while (readAddress(keyGroup, in)) {
            readBytes(value, in);
            values.put(key, value.array(), 0, value.length());
        }
    }

    private void readMaps(MapStore maps, int keyGroup, BlockReader in) throws IOException {
        while (readAddress(keyGroup, in)) {
            readBytes(userKey, in);
            readBytes(value, in);
            maps.put(key, userKey.array(), userKey.length(), value.array(), 0, value.length());
        }
    }

    private void readLists(KvState<?, ?> state, int keyGroup, BlockReader in) throws IOException {
        ListStore lists = null;
        while (readAddress(keyGroup, in)) {
            if (lists == null) {
                lists = state.lists(restored.store(), restored.registry());
            }
            for (int length = in.readVarInt(); length > 0; length = in.readVarInt()) {
                in.read(value.reset(length - 1), length - 1);
                lists.append(key, value.array(), 0, length - 1);
            }
        }
    }

    private void readTimers(TimerTarget timers, int keyGroup, BlockReader in) throws IOException {
        TriggerSchedule schedule = restored.store().triggers(timers.state().storeName());
        while (readAddress(keyGroup, in)) {
            schedule.add(in.readLong(), key);
        }
    }

    private void readElements(ElementTarget elements, BlockReader in) throws IOException {
        for (int length = in.readVarInt(); length > 0; length = in.readVarInt()) {
            in.read(value.reset(length - 1), length - 1);
            elementIn.setBuffer(value.array(), 0, length - 1);
            elements.add(elementIn);
        }
    }

    /** False at the end of the state. */
    private boolean readAddress(int keyGroup, BlockReader in) throws IOException {
        int keyLength = in.readVarInt() - 1;
        if (keyLength < 0) {
            return false;
        }
        int namespaceLength = in.readVarInt();
        int length = keyLength + namespaceLength;
        in.read(address.reset(length), length);
        key.setKey(keyGroup, address.array(), 0, keyLength);
        key.setNamespace(address.array(), keyLength, namespaceLength);
        return true;
    }

    private static void readBytes(Slice into, BlockReader in) throws IOException {
        int length = in.readVarInt();
        in.read(into.reset(length), length);
    }
}
