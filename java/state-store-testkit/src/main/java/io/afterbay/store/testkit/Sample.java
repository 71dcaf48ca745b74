package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.append;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.put;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** A state of every shape with a known content, to see that snapshots keep it. */
final class Sample {
    static final String VALUES = "sample-values";
    static final int LAST_GROUP = 12;
    static final Map<String, Shape> SHAPES =
            Map.of(
                    VALUES,
                    Shape.VALUES,
                    "sample-lists",
                    Shape.LISTS,
                    "sample-maps",
                    Shape.MAPS,
                    "sample-triggers",
                    Shape.TRIGGERS);
    private static final int KEYS = 600;

    private Sample() {}

    private static StateKey keyOf(int i) {
        return key(i % (LAST_GROUP + 1), "key-" + i, "n" + i % 3);
    }

    private static byte[] valueOf(int i) {
        return noise(i, i % 50 == 0 ? 40_000 : i % 300);
    }

    private static int elementsOf(int i) {
        return i % 100 == 0 ? 500 : i % 4 + 1;
    }

    private static long timestampOf(int i) {
        return (i - KEYS / 2) * 1000L / 7;
    }

    static void fill(StateStore store) {
        ValueStore values = store.values(VALUES);
        ListStore lists = store.lists("sample-lists", ReadAlignment.UNALIGNED);
        MapStore maps = store.maps("sample-maps");
        TriggerSchedule triggers = store.triggers("sample-triggers");
        for (int i = 0; i < KEYS; i++) {
            put(values, keyOf(i), valueOf(i));
            for (int element = 0; element < elementsOf(i); element++) {
                append(lists, keyOf(i), noise(i * 1000L + element, element % 200));
                put(maps, keyOf(i), noise(element, 9), noise(i + element, element % 50));
            }
            triggers.add(timestampOf(i), keyOf(i));
        }
    }

    /** Overwrites, removes, clears, merges, appends, polls and adds. */
    static void changeEverything(StateStore store) {
        ValueStore values = store.values(VALUES);
        ListStore lists = store.lists("sample-lists", ReadAlignment.UNALIGNED);
        MapStore maps = store.maps("sample-maps");
        TriggerSchedule triggers = store.triggers("sample-triggers");
        for (int i = 0; i < KEYS; i++) {
            changeValue(values, i);
            changeList(lists, i);
            changeMap(maps, i);
            triggers.add(timestampOf(i) + 1, keyOf(i));
            if (i % 3 == 0) {
                triggers.remove(timestampOf(i), keyOf(i));
            }
        }
        for (int i = 0; i < KEYS / 3; i++) {
            triggers.poll(new Trigger());
        }
    }

    private static void changeValue(ValueStore values, int i) {
        if (i % 3 == 0) {
            values.remove(keyOf(i));
        } else {
            put(values, keyOf(i), noise(-i, i % 2 == 0 ? valueOf(i).length : 77));
        }
    }

    private static void changeList(ListStore lists, int i) {
        StateKey merged = key(i % (LAST_GROUP + 1), "key-" + i, "merged");
        switch (i % 4) {
            case 0 -> lists.clear(keyOf(i));
            case 1 -> append(lists, keyOf(i), "late");
            case 2 -> lists.merge(merged, keyOf(i));
            default -> {
                append(lists, merged, "first");
                lists.merge(keyOf(i), merged);
                lists.clear(keyOf(i));
                append(lists, keyOf(i), "anew");
            }
        }
    }

    private static void changeMap(MapStore maps, int i) {
        byte[] userKey = noise(0, 9);
        switch (i % 3) {
            case 0 -> maps.clear(keyOf(i));
            case 1 -> maps.remove(keyOf(i), userKey, userKey.length);
            default -> put(maps, keyOf(i), userKey, noise(i, 60));
        }
        put(maps, keyOf(i), "new", "entry");
    }

    static void dropEverything(StateStore store) {
        SHAPES.keySet().forEach(store::drop);
    }

    static void clearLists(ListStore lists, Set<Place> places) {
        places.forEach(place -> lists.clear(place.toKey()));
    }

    static void check(StoreSnapshot snapshot) {
        check(group -> snapshot);
    }

    /** Checks what {@link #fill} has made. */
    static void check(IntFunction<StoreSnapshot> snapshotOfGroup) {
        for (int group = 0; group <= LAST_GROUP; group++) {
            StoreSnapshot snapshot = snapshotOfGroup.apply(group);
            List<Integer> members = members(group);
            checkValues(snapshot, group, members);
            checkLists(snapshot, group, members);
            checkMaps(snapshot, group, members);
            checkTriggers(snapshot, group, members);
        }
    }

    private static List<Integer> members(int group) {
        List<Integer> members = new ArrayList<>();
        for (int i = group; i < KEYS; i += LAST_GROUP + 1) {
            members.add(i);
        }
        return members;
    }

    private static void checkValues(StoreSnapshot snapshot, int group, List<Integer> members) {
        Map<Place, Bytes> expected = new TreeMap<>();
        members.forEach(i -> expected.put(Place.of(keyOf(i)), new Bytes(valueOf(i))));
        assertThat(Contents.values(snapshot.entries(VALUES, group))).isEqualTo(expected);
        assertThat(Contents.values(snapshot.fragments(VALUES, group))).isEqualTo(expected);
    }

    private static void checkLists(StoreSnapshot snapshot, int group, List<Integer> members) {
        Map<Place, List<Bytes>> expected = new TreeMap<>();
        for (int i : members) {
            List<Bytes> elements = new ArrayList<>();
            for (int element = 0; element < elementsOf(i); element++) {
                elements.add(new Bytes(noise(i * 1000L + element, element % 200)));
            }
            expected.put(Place.of(keyOf(i)), elements);
        }
        assertThat(Contents.lists(snapshot.entries("sample-lists", group))).isEqualTo(expected);
        assertThat(Contents.fragments(snapshot.fragments("sample-lists", group)))
                .isEqualTo(expected);
    }

    private static void checkMaps(StoreSnapshot snapshot, int group, List<Integer> members) {
        Map<Place, Map<Bytes, Bytes>> expected = new TreeMap<>();
        for (int i : members) {
            Map<Bytes, Bytes> entries = new TreeMap<>();
            for (int element = 0; element < elementsOf(i); element++) {
                entries.put(
                        new Bytes(noise(element, 9)), new Bytes(noise(i + element, element % 50)));
            }
            expected.put(Place.of(keyOf(i)), entries);
        }
        assertThat(Contents.maps(snapshot.entries("sample-maps", group))).isEqualTo(expected);
        assertThat(Contents.maps(snapshot.fragments("sample-maps", group))).isEqualTo(expected);
    }

    private static void checkTriggers(StoreSnapshot snapshot, int group, List<Integer> members) {
        Set<TriggerAt> expected = new HashSet<>();
        members.forEach(i -> expected.add(new TriggerAt(timestampOf(i), Place.of(keyOf(i)))));
        assertThat(Contents.triggers(snapshot.entries("sample-triggers", group)))
                .isEqualTo(expected);
    }
}
