package io.afterbay.store.paged;

import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Varint;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.ChainReader;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Elements of aligned lists in the order in which they came: one log per window (namespace) and
 * partition, which is a range of key groups (FlowKV, section 4.1). An append touches only the log's
 * last page. When the first list of a window and partition is read, the log is regrouped: it is
 * {@link GatheredLists gathered} into memory, or, if it is too long for that, each element goes to
 * the list of its key in the tree; and the log's pages are freed. What is gathered goes to the tree
 * if it is still there when another log is gathered or a snapshot is taken. So each element is
 * moved at most twice, whatever the order of reads.
 *
 * <p>Invariant: what is gathered is newer than what is in the tree, and older than what is in logs.
 *
 * <p>An element in a log: key group, key length, element length (varints), key, element.
 */
final class AppendLogs {
    private static final int PARTITIONS_MAX = 64;

    /**
     * With more key groups a log would be scanned too often by snapshots, which read group by
     * group.
     */
    private static final int KEY_GROUPS_MAX = 256;

    /**
     * So many logs are open at a time; further windows do without, so that snapshots stay short.
     */
    private static final int LOGS_MAX = 4096;

    /**
     * Takes regrouped elements: those of one key that are at hand, each with its length before it.
     */
    interface Sink {
        void append(StateKey key, byte[] framed, int length);
    }

    /** A longer log is not gathered; in regroup batches. */
    private static final int GATHERED_BATCHES_MAX = 16;

    /** Nor is one with more elements than would fill that if they had so many bytes. */
    private static final int GATHERED_ELEMENT_BYTES = 64;

    /** One window in one partition. */
    static final class Log {
        final int firstKeyGroup;
        final int lastKeyGroup;
        final ChainRef chain;

        Log(int firstKeyGroup, int lastKeyGroup, ChainRef chain) {
            this.firstKeyGroup = firstKeyGroup;
            this.lastKeyGroup = lastKeyGroup;
            this.chain = chain;
        }

        Log copy() {
            return new Log(firstKeyGroup, lastKeyGroup, chain.copy());
        }
    }

    /** A namespace as a map key. */
    static final class Window {
        byte[] bytes;
        int offset;
        int length;
        private int hash;

        Window(byte[] bytes, int offset, int length) {
            set(bytes, offset, length);
        }

        void set(byte[] bytes, int offset, int length) {
            this.bytes = bytes;
            this.offset = offset;
            this.length = length;
            int h = 1;
            for (int i = 0; i < length; i++) {
                h = 31 * h + bytes[offset + i];
            }
            hash = h;
        }

        boolean isNamespaceOf(StateKey key) {
            int at = key.keyLength();
            return Arrays.equals(
                    bytes, offset, offset + length, key.bytes(), at, at + key.namespaceLength());
        }

        Window copy() {
            return new Window(Arrays.copyOfRange(bytes, offset, offset + length), 0, length);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Window that
                    && Arrays.equals(
                            bytes,
                            offset,
                            offset + length,
                            that.bytes,
                            that.offset,
                            that.offset + that.length);
        }
    }

    /** The logs of one window by partition. */
    private static final class WindowLogs {
        final @Nullable Log[] logs;
        int open;

        WindowLogs(int partitions) {
            logs = new Log[partitions];
        }

        @Nullable Log take(int partition) {
            Log log = logs[partition];
            if (log != null) {
                logs[partition] = null;
                open--;
            }
            return log;
        }
    }

    private final PageStore pages;
    private final Chains chains;
    private final int firstKeyGroup;
    private final int keyGroups;
    private final int partitions;
    private final Map<Window, WindowLogs> windows = new HashMap<>();
    private final Window probe = new Window(new byte[0], 0, 0);
    private final Slice record = new Slice();
    private final RegroupBatch batch;
    private final GatheredLists gathered;
    private final int gatheredBytesMax;
    private int logCount;

    AppendLogs(PageStore pages, Chains chains, Readers readers, StoreOptions options) {
        this.pages = pages;
        this.chains = chains;
        int batchBytes = options.tuning().regroupBatchBytes();
        batch = new RegroupBatch(batchBytes);
        gatheredBytesMax = batchBytes * GATHERED_BATCHES_MAX;
        gathered = new GatheredLists(readers, gatheredBytesMax);
        firstKeyGroup = options.firstKeyGroup();
        keyGroups = options.lastKeyGroup() - firstKeyGroup + 1;
        partitions = keyGroups > KEY_GROUPS_MAX ? 0 : Math.min(PARTITIONS_MAX, keyGroups);
    }

    private int partitionOf(int keyGroup) {
        return (keyGroup - firstKeyGroup) * partitions / keyGroups;
    }

    /** The first key group of a partition. */
    private int firstOf(int partition) {
        return firstKeyGroup + (partition * keyGroups + partitions - 1) / partitions;
    }

    private @Nullable WindowLogs windowOf(StateKey key) {
        probe.set(key.bytes(), key.keyLength(), key.namespaceLength());
        return windows.get(probe);
    }

    /** Logs an element; false if this window must do without a log. */
    boolean append(StateKey key, byte[] element, int offset, int length) {
        Log log = logFor(key);
        if (log == null) {
            return false;
        }
        byte[] head = record.reset(3 * Varint.MAX_BYTES + key.keyLength());
        int at = Varint.write(key.keyGroup(), head, 0);
        at = Varint.write(key.keyLength(), head, at);
        at = Varint.write(length, head, at);
        System.arraycopy(key.bytes(), 0, head, at, key.keyLength());
        chains.append(log.chain, head, 0, at + key.keyLength());
        chains.append(log.chain, element, offset, length);
        log.chain.elements++;
        return true;
    }

    private @Nullable Log logFor(StateKey key) {
        WindowLogs window = windowOf(key);
        int partition = partitions == 0 ? 0 : partitionOf(key.keyGroup());
        Log log = window == null ? null : window.logs[partition];
        if (log != null) {
            return log;
        }
        if (logCount >= LOGS_MAX || partitions == 0) {
            return null;
        }
        if (window == null) {
            window = new WindowLogs(partitions);
            windows.put(probe.copy(), window);
        }
        int firstGroup = firstOf(partition);
        log = new Log(firstGroup, firstOf(partition + 1) - 1, ChainRef.of(firstGroup));
        window.logs[partition] = log;
        window.open++;
        logCount++;
        return log;
    }

    /** Gathers what was logged for the window and partition of a key, or moves it to the tree. */
    void regroup(StateKey key, Sink tree) {
        WindowLogs window = logCount == 0 ? null : windowOf(key);
        Log log = window == null ? null : window.take(partitionOf(key.keyGroup()));
        if (window != null && log != null) {
            Window namespace = probe.copy();
            logCount--;
            if (window.open == 0) {
                windows.remove(namespace);
            }
            settle(tree);
            regroup(namespace, log, tree);
        }
    }

    private void regroup(Window namespace, Log log, Sink tree) {
        if (log.chain.bytes > gatheredBytesMax
                || log.chain.elements > gatheredBytesMax / GATHERED_ELEMENT_BYTES) {
            drain(namespace, log, tree);
            return;
        }
        gathered.gather(namespace, chains, log.chain);
    }

    /**
     * The gathered list of a key, to be passed on; {@link GatheredLists#ABSENT} if there is none.
     */
    int findGathered(StateKey key) {
        return gathered.find(key);
    }

    ListReader readGathered(int list) {
        return gathered.read(list);
    }

    void removeGathered(int list) {
        gathered.remove(list);
    }

    /** Moves a gathered list to the tree. */
    void settleGathered(int list, Sink tree) {
        gathered.moveTo(batch, list, tree);
        batch.drainTo(gathered.window(), tree);
    }

    /** Moves all that is gathered to the tree. */
    void settle(Sink tree) {
        if (!gathered.isEmpty()) {
            gathered.moveAllTo(batch, tree);
            batch.drainTo(gathered.window(), tree);
        }
    }

    /** Frees memory that the next window can take anew, if nothing is gathered. */
    void giveBack() {
        gathered.giveBack();
    }

    /** Moves everything to the tree. */
    void regroupAll(Sink tree) {
        settle(tree);
        while (!windows.isEmpty()) {
            Window namespace = windows.keySet().iterator().next();
            WindowLogs window = windows.remove(namespace);
            for (int partition = 0; window != null && partition < partitions; partition++) {
                Log log = window.take(partition);
                if (log != null) {
                    logCount--;
                    drain(namespace, log, tree);
                }
            }
        }
    }

    private void drain(Window namespace, Log log, Sink sink) {
        LogReader reader = new LogReader(pages, namespace, log);
        int pageId = log.chain.head;
        while (reader.next()) {
            if (!batch.fits(reader.element().length())) {
                batch.drainTo(namespace, sink);
            }
            batch.add(reader.key(), reader.element());
            while (pageId != reader.pageId()) {
                pages.safepoint();
                pageId = chains.freeFirst(pageId);
            }
        }
        batch.drainTo(namespace, sink);
        chains.free(pageId);
    }

    Map<Window, List<Log>> freeze() {
        Map<Window, List<Log>> frozen = new HashMap<>();
        windows.forEach((window, held) -> frozen.put(window, copies(held)));
        return frozen;
    }

    private static List<Log> copies(WindowLogs window) {
        List<Log> copies = new ArrayList<>(window.open);
        for (Log log : window.logs) {
            if (log != null) {
                copies.add(log.copy());
            }
        }
        return copies;
    }

    /** The frozen log with the elements of a key; null if there is none. */
    static @Nullable Log find(Map<Window, List<Log>> frozen, StateKey key) {
        Window window = new Window(key.bytes(), key.keyLength(), key.namespaceLength());
        for (Log log : frozen.getOrDefault(window, List.of())) {
            if (log.firstKeyGroup <= key.keyGroup() && key.keyGroup() <= log.lastKeyGroup) {
                return log;
            }
        }
        return null;
    }

    /** Writes what {@link #load} reads. */
    static void save(Map<Window, List<Log>> frozen, DataOutput out) throws IOException {
        out.writeInt(frozen.size());
        for (Map.Entry<Window, List<Log>> window : frozen.entrySet()) {
            Window namespace = window.getKey();
            out.writeInt(namespace.length);
            out.write(namespace.bytes, namespace.offset, namespace.length);
            out.writeInt(window.getValue().size());
            for (Log log : window.getValue()) {
                out.writeInt(log.firstKeyGroup);
                log.chain.save(out);
            }
        }
    }

    void load(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            byte[] namespace = new byte[in.readInt()];
            in.readFully(namespace);
            WindowLogs window = new WindowLogs(partitions);
            windows.put(new Window(namespace, 0, namespace.length), window);
            for (int logs = in.readInt(); logs > 0; logs--) {
                int partition = partitionOf(in.readInt());
                window.logs[partition] =
                        new Log(firstOf(partition), firstOf(partition + 1) - 1, ChainRef.load(in));
                window.open++;
                logCount++;
            }
        }
    }

    void free() {
        for (WindowLogs window : windows.values()) {
            for (Log log : window.logs) {
                if (log != null) {
                    chains.free(log.chain.head);
                }
            }
        }
        windows.clear();
        logCount = 0;
        gathered.clear();
    }

    /** One pass over a log. */
    static final class LogReader {
        private final Window namespace;
        private final ChainReader reader;
        private final StateKey key = new StateKey();
        private final Slice keyBytes = new Slice();
        private final Slice element = new Slice();

        LogReader(PageSource source, Window namespace, Log log) {
            this.namespace = namespace;
            reader = new ChainReader(source, log.chain.head, log.chain.bytes);
        }

        boolean next() {
            if (reader.left() == 0) {
                return false;
            }
            int keyGroup = reader.readVarInt();
            int keyLength = reader.readVarInt();
            int length = reader.readVarInt();
            reader.read(keyBytes, keyLength);
            reader.read(element, length);
            key.setKey(keyGroup, keyBytes.array(), 0, keyLength);
            key.setNamespace(namespace.bytes, namespace.offset, namespace.length);
            return true;
        }

        int pageId() {
            return reader.pageId();
        }

        StateKey key() {
            return key;
        }

        Slice element() {
            return element;
        }
    }
}
