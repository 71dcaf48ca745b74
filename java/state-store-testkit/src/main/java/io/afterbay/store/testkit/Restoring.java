package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.util.Map;

/** Writes what a snapshot shows into another store, as an engine restores from a checkpoint. */
final class Restoring {
    private Restoring() {}

    static void copy(
            StoreSnapshot snapshot,
            int firstKeyGroup,
            int lastKeyGroup,
            StateStore target,
            Map<String, Shape> shapes) {
        shapes.forEach(
                (name, shape) -> {
                    for (int group = firstKeyGroup; group <= lastKeyGroup; group++) {
                        try (EntryCursor cursor = snapshot.fragments(name, group)) {
                            copy(cursor, target, name, shape);
                        }
                    }
                });
    }

    private static void copy(EntryCursor cursor, StateStore target, String name, Shape shape) {
        switch (shape) {
            case VALUES -> copyValues(cursor, target.values(name));
            case LISTS -> copyLists(cursor, target.lists(name, ReadAlignment.UNALIGNED));
            case MAPS -> copyMaps(cursor, target.maps(name));
            case TRIGGERS -> copyTriggers(cursor, target.triggers(name));
        }
    }

    private static void copyValues(EntryCursor cursor, ValueStore target) {
        while (cursor.next()) {
            Slice value = cursor.value();
            target.put(cursor.key(), value.array(), 0, value.length());
        }
    }

    private static void copyLists(EntryCursor cursor, ListStore target) {
        Slice element = new Slice();
        while (cursor.next()) {
            ListReader.Elements elements = cursor.list().elements();
            while (elements.next(element)) {
                target.append(cursor.key(), element.array(), 0, element.length());
            }
        }
    }

    private static void copyMaps(EntryCursor cursor, MapStore target) {
        while (cursor.next()) {
            Slice userKey = cursor.userKey();
            Slice value = cursor.value();
            target.put(
                    cursor.key(),
                    userKey.array(),
                    userKey.length(),
                    value.array(),
                    0,
                    value.length());
        }
    }

    private static void copyTriggers(EntryCursor cursor, TriggerSchedule target) {
        while (cursor.next()) {
            target.add(cursor.timestamp(), cursor.key());
        }
    }
}
