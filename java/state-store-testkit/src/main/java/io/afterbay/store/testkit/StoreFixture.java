package io.afterbay.store.testkit;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** What the parts of {@link StateStoreContract} work with. */
interface StoreFixture {
    int FIRST_KEY_GROUP = 0;
    int LAST_KEY_GROUP = 32767;

    /** A store of all key groups, opened for this test and closed after it. */
    StateStore store();

    /** One more store, on the same budget, with a directory of its own; closed after the test. */
    StateStore openAnother(int firstKeyGroup, int lastKeyGroup);

    MemoryBudget budget();

    /** Where the files of {@link #store} are. */
    Path directory();

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Bytes that do not compress and that tell their seed. */
    static byte[] noise(long seed, int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    static StateKey key(int keyGroup, String key) {
        return key(keyGroup, key, "");
    }

    static StateKey key(int keyGroup, String key, String namespace) {
        return key(keyGroup, bytes(key), bytes(namespace));
    }

    static StateKey key(int keyGroup, byte[] key, byte[] namespace) {
        return new StateKey().setKey(keyGroup, key).setNamespace(namespace);
    }

    static void put(ValueStore values, StateKey key, byte[] value) {
        values.put(key, value, 0, value.length);
    }

    static void put(ValueStore values, StateKey key, String value) {
        put(values, key, bytes(value));
    }

    static @Nullable Bytes get(ValueStore values, StateKey key) {
        Slice slice = new Slice();
        return values.get(key, slice) ? Contents.bytes(slice) : null;
    }

    static void append(ListStore lists, StateKey key, byte[] element) {
        lists.append(key, element, 0, element.length);
    }

    static void append(ListStore lists, StateKey key, String... elements) {
        for (String element : elements) {
            append(lists, key, bytes(element));
        }
    }

    static List<Bytes> get(ListStore lists, StateKey key) {
        return Contents.elementsOf(lists.get(key));
    }

    static void put(MapStore maps, StateKey key, byte[] userKey, byte[] value) {
        maps.put(key, userKey, userKey.length, value, 0, value.length);
    }

    static void put(MapStore maps, StateKey key, String userKey, String value) {
        put(maps, key, bytes(userKey), bytes(value));
    }

    static @Nullable Bytes get(MapStore maps, StateKey key, byte[] userKey) {
        Slice slice = new Slice();
        return maps.get(key, userKey, userKey.length, slice) ? Contents.bytes(slice) : null;
    }

    static @Nullable Bytes get(MapStore maps, StateKey key, String userKey) {
        return get(maps, key, bytes(userKey));
    }

    static boolean remove(MapStore maps, StateKey key, String userKey) {
        byte[] bytes = bytes(userKey);
        return maps.remove(key, bytes, bytes.length);
    }

    static @Nullable TriggerAt peek(TriggerSchedule triggers) {
        Trigger trigger = new Trigger();
        return triggers.peek(trigger) ? of(trigger) : null;
    }

    static @Nullable TriggerAt poll(TriggerSchedule triggers) {
        Trigger trigger = new Trigger();
        return triggers.poll(trigger) ? of(trigger) : null;
    }

    static TriggerAt of(Trigger trigger) {
        return new TriggerAt(trigger.timestamp(), Place.of(trigger.key()));
    }

    static Bytes utf8(String text) {
        return new Bytes(bytes(text));
    }

    static List<Bytes> listOf(String... texts) {
        return List.of(texts).stream().map(StoreFixture::utf8).toList();
    }
}
