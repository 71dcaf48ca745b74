package io.afterbay.store.testkit;

import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.StateKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

final class ReferenceLists extends ReferenceState<List<byte[]>> implements ListStore {
    /** Elements per fragment: few, so that callers meet lists in pieces. */
    private static final int FRAGMENT_ELEMENTS = 2;

    ReferenceLists(ReferenceStore store) {
        super(store);
    }

    @Override
    public void append(StateKey key, byte[] element, int offset, int length) {
        findOrAdd(key, ArrayList::new).add(Arrays.copyOfRange(element, offset, offset + length));
    }

    @Override
    public @Nullable ListReader get(StateKey key) {
        List<byte[]> list = find(key);
        return list == null ? null : new ReferenceListReader(list, store().untilReadersReleased());
    }

    @Override
    public boolean clear(StateKey key) {
        return take(key) != null;
    }

    @Override
    public void merge(StateKey target, StateKey source) {
        if (Address.of(target).equals(Address.of(source))) {
            return;
        }
        List<byte[]> moved = take(source);
        if (moved != null) {
            findOrAdd(target, ArrayList::new).addAll(moved);
        }
    }

    @Override
    Iterator<Row> rows(int keyGroup, Address address, List<byte[]> list) {
        return List.of(Row.ofList(keyGroup, address, list)).iterator();
    }

    @Override
    List<byte[]> copy(List<byte[]> list) {
        return List.copyOf(list);
    }

    /** The first fragment of every list, then the second of every list that has one, and so on. */
    @Override
    Iterator<Row> fragments(int keyGroup, Map<Address, List<byte[]>> lists) {
        List<Row> fragments = new ArrayList<>();
        int longest = lists.values().stream().mapToInt(List::size).max().orElse(0);
        for (int start = 0; start < longest; start += FRAGMENT_ELEMENTS) {
            int from = start;
            lists.forEach((address, list) -> addFragment(fragments, keyGroup, address, list, from));
        }
        return fragments.iterator();
    }

    private static void addFragment(
            List<Row> fragments, int keyGroup, Address address, List<byte[]> list, int from) {
        if (from < list.size()) {
            int to = Math.min(from + FRAGMENT_ELEMENTS, list.size());
            fragments.add(Row.ofList(keyGroup, address, list.subList(from, to)));
        }
    }
}
