package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Varint;
import io.afterbay.store.page.PageSize;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.Tree;
import java.io.DataInput;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists in a tree: a short list lies in its entry, a longer one in a chain, each element with its
 * length before it. Unaligned lists are appended to each at its own time, so the ends of all of
 * them should stay in memory: they lie on pages of {@link PageStore#listPageBytes}. Aligned lists
 * are logged first, see {@link AppendLogs}: what is in the tree is older than what is gathered
 * there or in the logs.
 */
final class PagedLists implements ListState {
    /** Longer lists go to a chain. */
    private static final int INLINE_BYTES_MAX = 256;

    private final PageStore pages;
    private final Chains chains;
    private final Readers readers;
    private final Tree tree;
    private final @Nullable AppendLogs logs;
    private final AppendLogs.Sink sink = this::appendUnlogged;
    private final RedoLog.OfState redo;
    private final EntryKey entry = new EntryKey();
    private final ChainRef chain = new ChainRef();
    private final Slice framed = new Slice();
    private final Slice inline = new Slice();

    PagedLists(
            PageStore pages,
            Chains chains,
            Readers readers,
            ReadAlignment alignment,
            StoreOptions options,
            RedoLog.OfState redo) {
        this.pages = pages;
        this.chains = chains;
        this.readers = readers;
        this.redo = redo;
        tree = new Tree(pages, chains, false);
        logs =
                alignment == ReadAlignment.ALIGNED
                        ? new AppendLogs(pages, chains, readers, options)
                        : null;
    }

    @Override
    public void append(StateKey key, byte[] element, int offset, int length) {
        pages.safepoint();
        if (logs == null || !logs.append(key, element, offset, length)) {
            settle();
            appendToTree(key, element, offset, length);
        }
        redo.listAppended(key, element, offset, length);
    }

    private void appendToTree(StateKey key, byte[] element, int offset, int length) {
        byte[] target = framed.reset(length + Varint.MAX_BYTES);
        int at = Varint.write(length, target, 0);
        System.arraycopy(element, offset, target, at, length);
        appendUnlogged(key, target, at + length);
        if (!Chains.isShort(length)) {
            framed.release();
        }
    }

    /** Whether the tree has elements of the list; of unaligned lists, that is all. */
    boolean contains(StateKey key) {
        pages.safepoint();
        return tree.find(entry.value(key));
    }

    /**
     * Appends elements, each with its length before it, to what is in the tree. The redo log does
     * not hear of it.
     */
    void appendUnlogged(StateKey key, byte[] bytes, int length) {
        pages.safepoint();
        boolean found = tree.find(entry.value(key));
        if (found && tree.isValueChained()) {
            tree.readChain(chain);
            chains.append(chain, bytes, 0, length, growthBytes());
            count(bytes, length, chain);
            writeChain(key, length);
        } else if (!tree.appendInline(entry, found, bytes, 0, length, INLINE_BYTES_MAX)) {
            ChainRef moved = toChain(key, found);
            chains.append(moved, bytes, 0, length);
            count(bytes, length, moved);
            putChain(key, moved, length);
        }
    }

    /** Aligned lists are filled one after the other, when they are about to be read. */
    private int growthBytes() {
        return logs == null ? pages.listPageBytes(tree.size()) : PageSize.LARGEST_BYTES;
    }

    private void writeChain(StateKey key, int appended) {
        if (!Chains.isShort(appended)) {
            pages.safepoint();
            tree.find(entry.value(key));
        }
        tree.writeChain(chain);
    }

    private void putChain(StateKey key, ChainRef moved, int appended) {
        if (!Chains.isShort(appended)) {
            pages.safepoint();
        }
        tree.putChain(entry.value(key), moved);
    }

    /** A new chain with the inline elements of the entry at the position. */
    private ChainRef toChain(StateKey key, boolean found) {
        ChainRef moved = ChainRef.of(key.keyGroup());
        if (found) {
            tree.readValue(inline);
            chains.append(moved, inline.array(), 0, inline.length());
            count(inline.array(), inline.length(), moved);
        }
        return moved;
    }

    /** Adds framed elements to the counts of a chain. */
    private static void count(byte[] framed, int length, ChainRef chain) {
        for (int at = 0; at < length; chain.elements++) {
            int bytes = Varint.read(framed, at);
            at += Varint.bytes(bytes) + bytes;
            chain.elementBytes += bytes;
        }
    }

    private void regroup(StateKey key) {
        if (logs != null) {
            logs.regroup(key, sink);
        }
    }

    /** The list in memory that the tree has nothing of; a list that both have goes to the tree. */
    private int gatheredOnly(AppendLogs from, StateKey key) {
        int list = from.findGathered(key);
        if (list != GatheredLists.ABSENT && tree.size() > 0 && tree.find(entry.value(key))) {
            from.settleGathered(list, sink);
            pages.safepoint();
            return GatheredLists.ABSENT;
        }
        return list;
    }

    @Override
    public void settle() {
        if (logs != null) {
            pages.safepoint();
            logs.settle(sink);
            logs.giveBack();
            pages.safepoint();
        }
    }

    @Override
    public @Nullable ListReader get(StateKey key) {
        pages.safepoint();
        regroup(key);
        pages.safepoint();
        int gathered = logs == null ? GatheredLists.ABSENT : gatheredOnly(logs, key);
        if (logs != null && gathered != GatheredLists.ABSENT) {
            return logs.readGathered(gathered);
        }
        if (!tree.find(entry.value(key))) {
            return null;
        }
        if (tree.isValueChained()) {
            ChainRef found = new ChainRef();
            tree.readChain(found);
            return readers.open(found);
        }
        tree.readValue(inline);
        return InlineListReader.of(inline.toByteArray());
    }

    @Override
    public int readAhead(List<StateKey> keys) {
        if (logs != null || !chains.beginReadAhead()) {
            return 0;
        }
        int passed = 0;
        for (StateKey key : keys) {
            if (findChain(key) && !chains.addToReadAhead(chain)) {
                break;
            }
            passed++;
        }
        return chains.readAhead() == 0 ? 0 : passed;
    }

    /** Whether a list is in a chain; if so, that is {@link #chain} now. */
    private boolean findChain(StateKey key) {
        pages.safepoint();
        boolean isChained = tree.find(entry.value(key)) && tree.isValueChained();
        if (isChained) {
            tree.readChain(chain);
        }
        return isChained;
    }

    @Override
    public boolean clear(StateKey key) {
        boolean present = clearUnlogged(key);
        if (present) {
            redo.listCleared(key);
        }
        return present;
    }

    /** As {@link #clear}; the redo log does not hear of it. */
    boolean clearUnlogged(StateKey key) {
        pages.safepoint();
        regroup(key);
        pages.safepoint();
        int gathered = logs == null ? GatheredLists.ABSENT : logs.findGathered(key);
        if (logs != null && gathered != GatheredLists.ABSENT) {
            logs.removeGathered(gathered);
            removeFromTree(key);
            return true;
        }
        return removeFromTree(key);
    }

    private boolean removeFromTree(StateKey key) {
        if (!tree.find(entry.value(key))) {
            return false;
        }
        int head = 0;
        if (tree.isValueChained()) {
            tree.readChain(chain);
            head = chain.head;
        }
        tree.remove(entry);
        readers.free(head);
        return true;
    }

    @Override
    public void merge(StateKey target, StateKey source) {
        pages.safepoint();
        regroup(source);
        regroup(target);
        settle();
        if (StateCursor.sameKey(target, source) || !tree.find(entry.value(source))) {
            return;
        }
        if (tree.isValueChained()) {
            ChainRef moved = new ChainRef();
            tree.readChain(moved);
            tree.remove(entry);
            pages.safepoint();
            attach(target, moved);
        } else {
            tree.readValue(inline);
            byte[] moved = inline.toByteArray();
            tree.remove(entry);
            appendUnlogged(target, moved, moved.length);
        }
        redo.listMerged(target, source);
    }

    /** Makes a chain the end of a list. */
    private void attach(StateKey target, ChainRef moved) {
        boolean found = tree.find(entry.value(target));
        if (!found) {
            tree.putChain(entry, moved);
        } else if (tree.isValueChained()) {
            tree.readChain(chain);
            chains.link(chain, moved);
            tree.writeChain(chain);
        } else {
            ChainRef first = toChain(target, true);
            chains.link(first, moved);
            tree.putChain(entry, first);
        }
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return scan(firstKeyGroup, lastKeyGroup, () -> {});
    }

    /**
     * @param beforeMove runs before each move of the cursor
     */
    EntryCursor scan(int firstKeyGroup, int lastKeyGroup, Runnable beforeMove) {
        pages.safepoint();
        if (logs != null) {
            logs.regroupAll(sink);
        }
        return PagedValues.scan(
                tree, pages, FrozenState.Content.LISTS, firstKeyGroup, lastKeyGroup, beforeMove);
    }

    @Override
    public String shape() {
        return "lists";
    }

    @Override
    public void load(DataInput in) throws IOException {
        tree.load(in);
        if (logs != null) {
            logs.load(in);
        }
    }

    @Override
    public FrozenState freeze(PageSource snapshot) {
        return new FrozenState(
                logs == null ? StateKind.UNALIGNED_LISTS : StateKind.ALIGNED_LISTS,
                tree.freeze(snapshot),
                logs == null ? null : logs.freeze(),
                null);
    }

    @Override
    public void free() {
        if (logs != null) {
            logs.free();
        }
        tree.clear();
    }
}
