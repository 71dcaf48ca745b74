package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One named state: a content per key and namespace, by key group.
 *
 * @param <C> the content of one key and namespace
 */
abstract class ReferenceState<C> {
    private final ReferenceStore store;
    private final TreeMap<Integer, Map<Address, C>> groups = new TreeMap<>();

    ReferenceState(ReferenceStore store) {
        this.store = store;
    }

    /** The rows of one content; tolerates changes of the content on the way. */
    abstract Iterator<Row> rows(int keyGroup, Address address, C content);

    /** A content that later changes of {@code content} leave alone. */
    abstract C copy(C content);

    /** The rows of a key group for {@link io.afterbay.store.StoreSnapshot#fragments}. */
    Iterator<Row> fragments(int keyGroup, Map<Address, C> contents) {
        return rows(keyGroup, contents);
    }

    final ReferenceStore store() {
        return store;
    }

    final @Nullable C find(StateKey key) {
        store.check(this, key);
        return group(key.keyGroup()).get(Address.of(key));
    }

    final C findOrAdd(StateKey key, Supplier<C> empty) {
        store.check(this, key);
        return groups.computeIfAbsent(key.keyGroup(), group -> new HashMap<>())
                .computeIfAbsent(Address.of(key), address -> empty.get());
    }

    final void set(StateKey key, C content) {
        store.check(this, key);
        groups.computeIfAbsent(key.keyGroup(), group -> new HashMap<>())
                .put(Address.of(key), content);
    }

    final @Nullable C take(StateKey key) {
        store.check(this, key);
        Map<Address, C> contents = groups.get(key.keyGroup());
        return contents == null ? null : contents.remove(Address.of(key));
    }

    public final EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        store.checkOpen();
        Iterator<Integer> keyGroups = IntStream.rangeClosed(firstKeyGroup, lastKeyGroup).iterator();
        Iterator<Row> rows = new Concatenation<>(keyGroups, group -> rows(group, group(group)));
        return new ReferenceCursor(rows, store::isOpen);
    }

    final FrozenState freeze() {
        TreeMap<Integer, Map<Address, C>> copy = new TreeMap<>();
        groups.forEach((group, contents) -> copy.put(group, copyContents(contents)));
        return new Frozen(copy);
    }

    private Map<Address, C> copyContents(Map<Address, C> contents) {
        Map<Address, C> copy = new HashMap<>();
        contents.forEach((address, content) -> copy.put(address, copy(content)));
        return copy;
    }

    private Map<Address, C> group(int keyGroup) {
        return groups.getOrDefault(keyGroup, Collections.emptyMap());
    }

    /** Follows the addresses of now, and shows of each what it holds when it is reached. */
    final Iterator<Row> rows(int keyGroup, Map<Address, C> contents) {
        Iterator<Address> addresses = List.copyOf(contents.keySet()).iterator();
        return new Concatenation<>(addresses, address -> rowsAt(keyGroup, address, contents));
    }

    private Iterator<Row> rowsAt(int keyGroup, Address address, Map<Address, C> contents) {
        C content = contents.get(address);
        return content == null ? Collections.emptyIterator() : rows(keyGroup, address, content);
    }

    private final class Frozen implements FrozenState {
        private final Map<Integer, Map<Address, C>> groups;

        Frozen(Map<Integer, Map<Address, C>> groups) {
            this.groups = groups;
        }

        @Override
        public Iterator<Row> entries(int keyGroup) {
            return rows(keyGroup, groups.getOrDefault(keyGroup, Collections.emptyMap()));
        }

        @Override
        public Iterator<Row> fragments(int keyGroup) {
            return ReferenceState.this.fragments(
                    keyGroup, groups.getOrDefault(keyGroup, Collections.emptyMap()));
        }
    }
}
