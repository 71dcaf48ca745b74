package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.paged.AppendLogs.Log;
import io.afterbay.store.paged.AppendLogs.Window;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The lists of one key group of a snapshot, each whole: what is in the tree followed by what is in
 * the logs. Goes over ranges of hashes, so many that the logged elements of one range fit into
 * {@link #PASS_BYTES} of heap.
 */
final class RegroupingCursor extends ListEntryCursor {
    private static final long PASS_BYTES = 16 << 20;
    private static final long HASHES = 1L << 48;

    /** Key and namespace of a list, with their hash; the buffer compares by content. */
    private record Group(long hash, int keyLength, ByteBuffer bytes) {
        static Group of(StateKey key) {
            byte[] copy = Arrays.copyOf(key.bytes(), key.length());
            return new Group(key.hash(), key.keyLength(), ByteBuffer.wrap(copy));
        }

        /** The buffer's own is computed byte by byte. */
        @Override
        public int hashCode() {
            return Long.hashCode(hash);
        }
    }

    private final FrozenState state;
    private final PageSource source;
    private final Map<Window, List<Log>> logs;
    private final int keyGroup;
    private final long passes;
    private long pass;
    private Map<Group, List<byte[]>> groups = Map.of();
    private @Nullable EntryCursor inTree;
    private Iterator<Map.Entry<Group, List<byte[]>>> onlyLogged =
            List.<Map.Entry<Group, List<byte[]>>>of().iterator();
    private StateKey key = new StateKey();
    private @Nullable ListReader list;

    RegroupingCursor(
            FrozenState state, PageSource source, Map<Window, List<Log>> logs, int keyGroup) {
        this.state = state;
        this.source = source;
        this.logs = logs;
        this.keyGroup = keyGroup;
        passes = 1 + loggedBytes() / PASS_BYTES;
    }

    private long loggedBytes() {
        long bytes = 0;
        for (List<Log> window : logs.values()) {
            for (Log log : window) {
                if (log.firstKeyGroup <= keyGroup && keyGroup <= log.lastKeyGroup) {
                    bytes += log.chain.bytes / (log.lastKeyGroup - log.firstKeyGroup + 1);
                }
            }
        }
        return bytes;
    }

    @Override
    public boolean next() {
        while (!nextInTree() && !nextOnlyLogged()) {
            if (pass == passes) {
                return false;
            }
            beginPass();
        }
        return true;
    }

    private void beginPass() {
        long first = HASHES / passes * pass;
        pass++;
        long last = pass == passes ? HASHES - 1 : HASHES / passes * pass - 1;
        groups = collect(first, last);
        inTree = state.treeEntries(keyGroup, first, last);
    }

    private Map<Group, List<byte[]>> collect(long firstHash, long lastHash) {
        Map<Group, List<byte[]>> collected = new HashMap<>();
        LogCursor cursor = new LogCursor(source, logs, keyGroup);
        while (cursor.next()) {
            long hash = cursor.key().hash() >>> 16;
            if (firstHash <= hash && hash <= lastHash) {
                collected
                        .computeIfAbsent(Group.of(cursor.key()), group -> new ArrayList<>())
                        .add(cursor.element());
            }
        }
        return collected;
    }

    private boolean nextInTree() {
        EntryCursor entries = inTree;
        if (entries == null) {
            return false;
        }
        if (entries.next()) {
            key = entries.key();
            List<byte[]> logged = groups.remove(Group.of(key));
            list = logged == null ? entries.list() : new HeapListReader(entries.list(), logged);
            return true;
        }
        inTree = null;
        onlyLogged = groups.entrySet().iterator();
        key = new StateKey();
        return false;
    }

    private boolean nextOnlyLogged() {
        if (!onlyLogged.hasNext()) {
            return false;
        }
        Map.Entry<Group, List<byte[]>> next = onlyLogged.next();
        int keyLength = next.getKey().keyLength();
        byte[] bytes = next.getKey().bytes().array();
        key.setKey(keyGroup, bytes, 0, keyLength);
        key.setNamespace(bytes, keyLength, bytes.length - keyLength);
        list = new HeapListReader(null, next.getValue());
        return true;
    }

    @Override
    public StateKey key() {
        return key;
    }

    @Override
    public ListReader list() {
        ListReader current = list;
        if (current == null) {
            throw new IllegalStateException("call next() first");
        }
        return current;
    }
}
