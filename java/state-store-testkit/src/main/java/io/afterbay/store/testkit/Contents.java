package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads cursors to their end, into maps that can be compared, and checks on the way what holds for
 * every cursor: key groups ascend, and nothing comes twice. Closes the cursors.
 */
final class Contents {
    private Contents() {}

    static Map<Place, Bytes> values(EntryCursor cursor) {
        Map<Place, Bytes> values = new TreeMap<>();
        try (cursor) {
            for (int group = 0; cursor.next(); ) {
                Place place = Place.of(cursor.key());
                group = ascending(group, place);
                assertThat(values.put(place, bytes(cursor.value())))
                        .as("%s came twice", place)
                        .isNull();
            }
        }
        return values;
    }

    static Map<Place, List<Bytes>> lists(EntryCursor cursor) {
        Map<Place, List<Bytes>> lists = new TreeMap<>();
        try (cursor) {
            for (int group = 0; cursor.next(); ) {
                Place place = Place.of(cursor.key());
                group = ascending(group, place);
                List<Bytes> elements = elements(cursor.list());
                assertThat(elements).as("the list of %s", place).isNotEmpty();
                assertThat(lists.put(place, elements)).as("%s came twice", place).isNull();
            }
        }
        return lists;
    }

    /** Of {@link io.afterbay.store.StoreSnapshot#fragments}: a list may come in pieces. */
    static Map<Place, List<Bytes>> fragments(EntryCursor cursor) {
        Map<Place, List<Bytes>> lists = new TreeMap<>();
        try (cursor) {
            while (cursor.next()) {
                Place place = Place.of(cursor.key());
                List<Bytes> fragment = elements(cursor.list());
                assertThat(fragment).as("a fragment of %s", place).isNotEmpty();
                lists.computeIfAbsent(place, absent -> new ArrayList<>()).addAll(fragment);
            }
        }
        return lists;
    }

    static Map<Place, Map<Bytes, Bytes>> maps(EntryCursor cursor) {
        Map<Place, Map<Bytes, Bytes>> maps = new TreeMap<>();
        Place last = null;
        try (cursor) {
            for (int group = 0; cursor.next(); ) {
                Place place = Place.of(cursor.key());
                group = ascending(group, place);
                Map<Bytes, Bytes> entries = maps.computeIfAbsent(place, absent -> new TreeMap<>());
                assertThat(place.equals(last) || entries.isEmpty())
                        .as("the entries of %s come one after the other", place)
                        .isTrue();
                Bytes userKey = bytes(cursor.userKey());
                assertThat(entries.put(userKey, bytes(cursor.value())))
                        .as("user key %s of %s came twice", userKey, place)
                        .isNull();
                last = place;
            }
        }
        return maps;
    }

    /** The entries of one key and namespace. */
    static Map<Bytes, Bytes> entries(EntryCursor cursor) {
        Map<Place, Map<Bytes, Bytes>> maps = maps(cursor);
        assertThat(maps.keySet()).as("keys in the entries of one key").hasSizeLessThanOrEqualTo(1);
        return maps.isEmpty() ? Map.of() : maps.values().iterator().next();
    }

    static Set<TriggerAt> triggers(EntryCursor cursor) {
        Set<TriggerAt> triggers = new LinkedHashSet<>();
        TriggerAt last = null;
        try (cursor) {
            while (cursor.next()) {
                TriggerAt trigger = new TriggerAt(cursor.timestamp(), Place.of(cursor.key()));
                checkScanOrder(last, trigger);
                assertThat(triggers.add(trigger))
                        .as("%s came for the first time", trigger)
                        .isTrue();
                last = trigger;
            }
        }
        return triggers;
    }

    private static void checkScanOrder(@Nullable TriggerAt before, TriggerAt after) {
        if (before != null) {
            int groups = Integer.compare(before.place().keyGroup(), after.place().keyGroup());
            boolean ordered =
                    groups < 0 || (groups == 0 && before.timestamp() <= after.timestamp());
            assertThat(ordered).as("order of %s, %s", before, after).isTrue();
        }
    }

    private static int ascending(int group, Place place) {
        assertThat(place.keyGroup()).as("key groups ascend").isGreaterThanOrEqualTo(group);
        return place.keyGroup();
    }

    /** The elements; checks the figures that the reader gives of them. */
    static List<Bytes> elements(ListReader reader) {
        List<Bytes> elements = new ArrayList<>();
        ListReader.Elements pass = reader.elements();
        Slice slice = new Slice();
        long bytes = 0;
        while (pass.next(slice)) {
            elements.add(bytes(slice));
            bytes += slice.length();
        }
        assertThat(reader.size()).as("size() of the list").isEqualTo(elements.size());
        assertThat(reader.bytes()).as("bytes() of the list").isEqualTo(bytes);
        return elements;
    }

    /** Null has none. */
    static List<Bytes> elementsOf(@Nullable ListReader reader) {
        return reader == null ? List.of() : elements(reader);
    }

    static Bytes bytes(Slice slice) {
        return new Bytes(slice.toByteArray());
    }
}
