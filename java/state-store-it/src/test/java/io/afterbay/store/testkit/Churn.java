package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.append;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.put;

import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import java.util.HashMap;
import java.util.Map;

/** Changes of a store that can be repeated on another one, and what comes of them. */
final class Churn {
    static final int LAST_KEY_GROUP = 7;
    static final String VALUES = "values";
    static final Map<String, Shape> SHAPES =
            Map.of(
                    VALUES,
                    Shape.VALUES,
                    "aligned",
                    Shape.LISTS,
                    "unaligned",
                    Shape.LISTS,
                    "maps",
                    Shape.MAPS,
                    "triggers",
                    Shape.TRIGGERS);

    private Churn() {}

    /** Changes of each kind, in each key group, whose numbers depend on the round. */
    static void change(StateStore store, int round) {
        for (int i = 0; i < 400; i++) {
            int group = i % (LAST_KEY_GROUP + 1);
            var one = key(group, "key-" + i, "a");
            var two = key(group, "key-" + i, "b");
            String text = "round " + round + " of " + i;
            put(store.values(VALUES), one, text);
            put(store.maps("maps"), one, "entry-" + round, text);
            append(store.lists("aligned", ReadAlignment.ALIGNED), one, text);
            append(store.lists("unaligned", ReadAlignment.UNALIGNED), two, text);
            store.triggers("triggers").add(100L * i + round, one);
            if ((i + round) % 3 == 0) {
                store.values(VALUES).remove(one);
                store.lists("aligned", ReadAlignment.ALIGNED).clear(one);
                store.lists("unaligned", ReadAlignment.UNALIGNED).merge(one, two);
                store.maps("maps").clear(one);
                store.triggers("triggers").remove(100L * i + round - 1, one);
            }
        }
    }

    static Map<String, Object> content(StateStore store, int first, int last) {
        Map<String, Object> content = new HashMap<>();
        try (StoreSnapshot snapshot = store.snapshot()) {
            for (int group = first; group <= last; group++) {
                for (Map.Entry<String, Shape> state : SHAPES.entrySet()) {
                    var cursor = snapshot.entries(state.getKey(), group);
                    Object entries =
                            switch (state.getValue()) {
                                case VALUES -> Contents.values(cursor);
                                case LISTS -> Contents.lists(cursor);
                                case MAPS -> Contents.maps(cursor);
                                case TRIGGERS -> Contents.triggers(cursor);
                            };
                    content.put(state.getKey() + " in " + group, entries);
                }
            }
        }
        return content;
    }
}
