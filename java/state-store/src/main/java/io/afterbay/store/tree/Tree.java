package io.afterbay.store.tree;

import io.afterbay.store.Slice;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageSize;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import java.io.DataInput;
import java.io.IOException;
import java.util.function.LongConsumer;

/**
 * A B+ tree of entries in the order of {@link EntryKey}: by key group, then by hash or timestamp.
 *
 * <p>Hashes spread the entries evenly, so the tree is as good as a hash table that grows without
 * rehashing, and a key group is a range of it. Leaves grow from 512 bytes to {@link
 * PageStore#entryPageBytes}, or further up to 4 KiB if their entries are large, then split between
 * two different sort keys; a leaf whose entries all have one sort key grows on. Leaves that run
 * empty are freed, sparse ones are merged with a neighbour.
 *
 * <p>Single-threaded. Methods that change or find an entry leave the position at it. Except where
 * they say so they pass no safepoint: the caller passes one before.
 */
public final class Tree implements TreeView {
    /**
     * That a leaf should have room for: larger entries get larger leaves, or half of each is empty.
     */
    private static final int LEAF_ENTRIES = 16;

    private final PageStore pages;
    private final Chains chains;
    private final boolean wide;
    private final Search search = new Search(this);
    private final Slice grown = new Slice();
    private int root;
    private long size;
    private long version;

    /**
     * @param wide whether entries differ in {@code low} (maps and triggers)
     */
    public Tree(PageStore pages, Chains chains, boolean wide) {
        this.pages = pages;
        this.chains = chains;
        this.wide = wide;
    }

    @Override
    public PageSource source() {
        return pages;
    }

    @Override
    public int root() {
        return root;
    }

    @Override
    public boolean wide() {
        return wide;
    }

    @Override
    public long version() {
        return version + pages.moves();
    }

    /** Number of entries. */
    public long size() {
        return size;
    }

    /** Whether there is an entry with this key; the position is at it. */
    public boolean find(EntryKey key) {
        return root != 0 && search.find(key);
    }

    /**
     * Moves the position to the first entry whose {@code high} is in the range; false if there is
     * none.
     */
    public boolean findFirst(long firstHigh, long lastHigh) {
        if (root == 0) {
            return false;
        }
        long page = search.leafOf(firstHigh, 0);
        search.slot = Leaf.lowerBound(page, firstHigh, 0, wide);
        return search.skipToEntry() && Leaf.high(search.leafAddress(), search.slot) <= lastHigh;
    }

    /**
     * Hands over the {@code high} of each entry in the leaf in whose range {@code high} falls.
     * Returns where the next leaf begins, or {@code end} behind the last one. The position is lost.
     */
    public long readLeaf(long high, LongConsumer highs, long end) {
        if (root == 0) {
            return end;
        }
        long page = search.leafOf(high, 0);
        int count = Leaf.count(page);
        for (int i = 0; i < count; i++) {
            highs.accept(Leaf.high(page, i));
        }
        return search.hasUpper ? search.upperHigh : end;
    }

    /** Timestamp of the entry at the position; of trees of triggers. */
    public long timestamp() {
        long page = search.leafAddress();
        return EntryKey.timestamp(Leaf.high(page, search.slot), Leaf.low(page, search.slot, wide));
    }

    /** Copies the key of the entry at the position; passes safepoints if it is long. */
    public void readKey(KeyCopy into) {
        into.take(this, search);
    }

    private long base() {
        return Record.base(Leaf.record(search.leafAddress(), search.slot), wide);
    }

    private long baseForChange() {
        pages.modify(search.leaf);
        return base();
    }

    /** Copies the value of the entry at the position; passes safepoints if it is long. */
    public void readValue(Slice into) {
        long base = base();
        if (Record.isValueChained(base)) {
            readChained(base, into);
        } else {
            int length = Record.valueLength(base);
            Memory.read(Record.valueAt(base), into.reset(length), 0, length);
        }
    }

    private void readChained(long base, Slice into) {
        ChainRef chain = ChainRef.read(Record.valueAt(base));
        new ChainReader(pages, chain.head, chain.bytes).read(into, (int) chain.bytes);
    }

    public boolean isValueChained() {
        return Record.isValueChained(base());
    }

    /** Length of an inline value. */
    public int inlineLength() {
        return Record.valueLength(base());
    }

    /** Reads the chain of the entry at the position. */
    public void readChain(ChainRef into) {
        into.readFrom(Record.valueAt(base()));
    }

    /** Updates the chain of the entry at the position. */
    public void writeChain(ChainRef chain) {
        chain.writeTo(Record.valueAt(baseForChange()));
    }

    /** Sets a value, long or short; passes safepoints if it or its predecessor is long. */
    public void put(EntryKey key, byte[] value, int offset, int length) {
        boolean found = find(key);
        if (found && Record.isValueChained(base())) {
            replaceChained(key, value, offset, length);
        } else if (length <= Record.MAX_INLINE_VALUE) {
            putInline(key, found, value, offset, length);
        } else {
            putChained(key, value, offset, length);
        }
    }

    private void replaceChained(EntryKey key, byte[] value, int offset, int length) {
        ChainRef chain = ChainRef.read(Record.valueAt(base()));
        if (Chains.isShort(length)
                && length > Record.MAX_INLINE_VALUE
                && chains.overwrite(chain, value, offset, length)) {
            writeChain(chain);
            return;
        }
        remove(key);
        chains.free(chain.head);
        pages.safepoint();
        put(key, value, offset, length);
    }

    private void putChained(EntryKey key, byte[] value, int offset, int length) {
        ChainRef chain = ChainRef.of(key.keyGroup());
        chains.append(chain, value, offset, length);
        pages.safepoint();
        putChain(key, chain);
    }

    /** Makes a chain the value of a key, in place of an inline value if there is one. */
    public void putChain(EntryKey key, ChainRef chain) {
        makeRecord(key, find(key), ChainRef.BYTES);
        long base = baseForChange();
        Record.setValueChained(base, true);
        Record.setValueLength(base, ChainRef.BYTES);
        chain.writeTo(Record.valueAt(base));
    }

    /**
     * Sets a value of at most {@link Record#MAX_INLINE_VALUE} bytes; {@code found} as of {@link
     * #find}.
     */
    private void putInline(EntryKey key, boolean found, byte[] value, int offset, int length) {
        if (!found || Record.capacity(base()) < length) {
            makeRecord(key, found, length);
        }
        long base = baseForChange();
        Memory.write(value, offset, Record.valueAt(base), length);
        Record.setValueLength(base, length);
    }

    /**
     * Appends bytes to an inline value, absent counting as empty; false, with nothing done, if the
     * result would exceed {@code maxLength}.
     */
    public boolean appendInline(
            EntryKey key, boolean found, byte[] bytes, int offset, int length, int maxLength) {
        int old = found ? inlineLength() : 0;
        if (old + length > maxLength) {
            return false;
        }
        if (!found || Record.capacity(base()) < old + length) {
            growInline(key, found, old, Math.min(maxLength, old + length + old / 2));
        }
        long base = baseForChange();
        Memory.write(bytes, offset, Record.valueAt(base) + old, length);
        Record.setValueLength(base, old + length);
        return true;
    }

    private void growInline(EntryKey key, boolean found, int old, int capacity) {
        if (found) {
            readValue(grown);
        }
        makeRecord(key, found, capacity);
        if (found) {
            long base = baseForChange();
            Memory.write(grown.array(), 0, Record.valueAt(base), old);
            Record.setValueLength(base, old);
        }
    }

    /** Adds a key without a value; false if it is there already. */
    public boolean add(EntryKey key) {
        if (find(key)) {
            return false;
        }
        makeRecord(key, false, 0);
        return true;
    }

    /** Removes the entry. A chain that is its value is not freed: the caller has read it before. */
    public boolean remove(EntryKey key) {
        if (!find(key)) {
            return false;
        }
        long base = base();
        int keyChain = Record.isKeyChained(base) ? Record.keyChain(base) : 0;
        long page = pages.modify(search.leaf);
        Leaf.remove(page, search.slot, wide);
        size--;
        version++;
        shrink(key, page);
        if (keyChain != 0) {
            chains.free(keyChain);
        }
        return true;
    }

    // ---------------------------------------------------------------- records

    /**
     * Makes an empty record of that value capacity, in place of the entry's present one if there is
     * one.
     */
    private void makeRecord(EntryKey key, boolean found, int capacity) {
        int keyChain = found ? takeOut() : writeKeyChain(key);
        int bytes = Record.bytesFor(key, capacity, wide);
        long page = makeRoom(key, bytes + Leaf.SLOT_BYTES);
        long record = Leaf.insert(page, search.slot, key.high, bytes);
        Record.init(record, wide, key, keyChain, capacity);
        size++;
        version++;
    }

    /** Removes the record at the position, but for its key chain, which it returns. */
    private int takeOut() {
        long page = pages.modify(search.leaf);
        long base = base();
        int keyChain = Record.isKeyChained(base) ? Record.keyChain(base) : 0;
        Leaf.remove(page, search.slot, wide);
        size--;
        return keyChain;
    }

    /** Writes a long key to a chain, which passes safepoints; returns 0 for a short one. */
    private int writeKeyChain(EntryKey key) {
        if (key.keyBytes() <= Record.MAX_INLINE_KEY) {
            return 0;
        }
        ChainRef chain = ChainRef.of(key.keyGroup());
        chains.append(chain, key.key.bytes(), 0, key.key.length());
        chains.append(chain, key.userKey, 0, key.userKeyLength);
        pages.safepoint();
        find(key);
        return chain.head;
    }

    /**
     * Makes the gap of the position's leaf at least that large; the position may move to another
     * leaf.
     */
    private long makeRoom(EntryKey key, int bytes) {
        if (root == 0) {
            plantRoot();
        }
        for (; ; ) {
            long page = pages.modify(search.leaf);
            if (Leaf.gap(page) >= bytes) {
                return page;
            }
            if (Leaf.gap(page) + Leaf.garbage(page) >= bytes) {
                rebuild(page, Leaf.count(page));
            } else if (PageStore.pageBytes(page) < leafBytes(page)) {
                enlarge(page);
            } else {
                split(key);
                search.find(key);
            }
        }
    }

    /** The size to which a leaf grows: small, but for a good number of entries. */
    private int leafBytes(long page) {
        int count = Math.max(1, Leaf.count(page));
        int average = Leaf.usedBytes(page, PageStore.pageBytes(page)) / count;
        int wanted = PageSize.fitting((long) average * LEAF_ENTRIES);
        return Math.max(pages.entryPageBytes(), Math.min(wanted, PageStore.ENTRY_PAGE_BYTES_MAX));
    }

    private void plantRoot() {
        root =
                pages.allocate(
                        PageSize.SMALLEST_BYTES, PageStore.TREE_STREAM, PageStore.ALL_KEY_GROUPS);
        Leaf.init(pages.address(root), PageSize.SMALLEST_BYTES);
        search.descend(0, 0);
        search.slot = 0;
    }

    private void enlarge(long page) {
        int bytes = PageStore.pageBytes(page) * 2;
        if (bytes > PageSize.LARGEST_BYTES) {
            throw new StateStoreException(
                    "more than "
                            + PageSize.LARGEST_BYTES
                            + " bytes of entries have the same 64-bit hash; this cannot happen by chance:"
                            + " the keys were made to collide");
        }
        int count = Leaf.count(page); // resizing frees this page
        rebuild(pages.resize(search.leaf, bytes), count);
    }

    /** Writes a leaf anew with its first {@code count} slots and without garbage. */
    private void rebuild(long page, int count) {
        long old = pages.scratch();
        int pageBytes = PageStore.pageBytes(page);
        Memory.copy(page, old, pageBytes);
        Leaf.init(page, pageBytes);
        Leaf.appendFrom(old, 0, count, page, wide);
        Leaf.clearGap(page);
    }

    // ---------------------------------------------------------------- splitting

    /**
     * Splits the position's leaf between two sort keys, or enlarges it if all its sort keys are
     * equal.
     */
    private void split(EntryKey key) {
        long page = search.descend(key.high, key.low);
        if (isAscending(page, key)) {
            hangIn(newLeaf(pages.entryPageBytes(), key.high), key.high, key.low);
            return;
        }
        int at = splitIndex(page);
        if (at < 0) {
            enlarge(page);
            return;
        }
        int right = newLeaf(PageStore.pageBytes(page), Leaf.high(page, at));
        page = pages.modify(search.leaf);
        Leaf.appendFrom(page, at, Leaf.count(page), pages.address(right), wide);
        long high = Leaf.high(page, at);
        long low = Leaf.low(page, at, wide);
        rebuild(page, at);
        hangIn(right, high, low);
    }

    /**
     * Whether the new entry comes behind all others, as new triggers do: then the full leaf stays
     * full.
     */
    private boolean isAscending(long page, EntryKey key) {
        int last = Leaf.count(page) - 1;
        return !search.hasUpper
                && last >= 0
                && EntryKey.compare(
                                Leaf.high(page, last),
                                Leaf.low(page, last, wide),
                                key.high,
                                key.low)
                        < 0;
    }

    private int newLeaf(int pageBytes, long firstHigh) {
        int pageId = pages.allocate(pageBytes, PageStore.TREE_STREAM, EntryKey.keyGroup(firstHigh));
        Leaf.init(pages.address(pageId), pageBytes);
        return pageId;
    }

    /**
     * The boundary between different sort keys that is nearest to the middle by bytes; -1 if there
     * is none.
     */
    private int splitIndex(long page) {
        int count = Leaf.count(page);
        int half = Leaf.bytes(page, 0, count, wide) / 2;
        int middle = 0;
        for (int bytes = 0; middle < count - 1 && bytes < half; middle++) {
            bytes += Leaf.bytes(page, middle, middle + 1, wide);
        }
        for (int distance = 0; distance < count; distance++) {
            if (isBoundary(page, middle - distance)) {
                return middle - distance;
            }
            if (isBoundary(page, middle + distance)) {
                return middle + distance;
            }
        }
        return -1;
    }

    private boolean isBoundary(long page, int index) {
        return index > 0
                && index < Leaf.count(page)
                && (Leaf.high(page, index) != Leaf.high(page, index - 1)
                        || Leaf.low(page, index, wide) != Leaf.low(page, index - 1, wide));
    }

    /** Enters a new right neighbour of the position's leaf into the parent. */
    private void hangIn(int right, long high, long low) {
        insertChild(search.levels - 1, high, low, right);
        search.structureChanged();
        version++;
    }

    private void insertChild(int level, long high, long low, int child) {
        if (level < 0) {
            growRoot(high, low, child);
            return;
        }
        int index = search.pathIndexes[level] + 1;
        long page = pages.modify(search.pathPages[level]);
        if (!Inner.isFull(page)) {
            Inner.insert(page, index, high, low, child);
            return;
        }
        int half = Inner.MAX_CHILDREN / 2;
        int rightId = newInner(EntryKey.keyGroup(Inner.high(page, half)));
        long right = pages.address(rightId);
        Inner.init(right);
        Inner.moveTail(page, half, right);
        if (index <= half) {
            Inner.insert(page, index, high, low, child);
        } else {
            Inner.insert(right, index - half, high, low, child);
        }
        insertChild(level - 1, Inner.high(right, 0), Inner.low(right, 0), rightId);
    }

    private int newInner(int keyGroup) {
        return pages.allocate(Inner.PAGE_BYTES, PageStore.TREE_STREAM, keyGroup);
    }

    private void growRoot(long high, long low, int child) {
        int pageId = newInner(PageStore.ALL_KEY_GROUPS);
        long page = pages.address(pageId);
        Inner.init(page);
        Inner.insert(page, 0, 0, 0, root);
        Inner.insert(page, 1, high, low, child);
        root = pageId;
    }

    // ---------------------------------------------------------------- shrinking

    /**
     * After a removal from the position's leaf: frees it if it is empty, merges it if it is sparse.
     */
    private void shrink(EntryKey key, long page) {
        int count = Leaf.count(page);
        if (search.leaf == root) {
            return;
        }
        if (count == 0) {
            search.descend(key.high, key.low);
            pages.free(search.leaf);
            removeChild(search.levels - 1, search.pathIndexes[search.levels - 1]);
        } else if ((count < 4 || count % 4 == 0) && isSparse(page)) {
            search.descend(key.high, key.low);
            mergeWithNeighbour();
        }
    }

    private static boolean isSparse(long page) {
        int pageBytes = PageStore.pageBytes(page);
        return Leaf.usedBytes(page, pageBytes) < pageBytes / 4;
    }

    private void mergeWithNeighbour() {
        int level = search.levels - 1;
        long parent = pages.address(search.pathPages[level]);
        int left = Math.max(0, Math.min(search.pathIndexes[level], Inner.count(parent) - 2));
        if (Inner.count(parent) > 1) {
            merge(Inner.child(parent, left), Inner.child(parent, left + 1), level, left + 1);
        }
    }

    private void merge(int leftId, int rightId, int level, int rightIndex) {
        long left = pages.address(leftId);
        long right = pages.address(rightId);
        int leftBytes = PageStore.pageBytes(left);
        int rightBytes = PageStore.pageBytes(right);
        if (Leaf.usedBytes(left, leftBytes) + Leaf.usedBytes(right, rightBytes)
                > Math.min(leftBytes, leafBytes(left)) * 3 / 4) {
            return;
        }
        left = pages.modify(leftId);
        rebuild(left, Leaf.count(left));
        Leaf.appendFrom(right, 0, Leaf.count(right), left, wide);
        pages.free(rightId);
        removeChild(level, rightIndex);
    }

    private void removeChild(int level, int index) {
        int pageId = search.pathPages[level];
        long page = pages.modify(pageId);
        Inner.remove(page, index);
        if (Inner.count(page) == 0) {
            pages.free(pageId);
            if (level == 0) {
                root = 0;
            } else {
                removeChild(level - 1, search.pathIndexes[level - 1]);
            }
        } else if (level == 0) {
            lowerRoot();
        }
        search.structureChanged();
        version++;
    }

    private void lowerRoot() {
        long page = pages.address(root);
        while (!Leaf.isLeaf(page) && Inner.count(page) == 1) {
            int child = Inner.child(page, 0);
            pages.free(root);
            root = child;
            page = pages.address(root);
        }
    }

    /** Frees all pages, chains of keys and values included; passes safepoints. */
    public void clear() {
        if (root != 0) {
            free(root);
            root = 0;
            size = 0;
            search.structureChanged();
            version++;
        }
    }

    private void free(int pageId) {
        pages.safepoint();
        if (Leaf.isLeaf(pages.address(pageId))) {
            freeRecords(pageId);
        } else {
            freeChildren(pageId);
        }
        pages.free(pageId);
    }

    private void freeRecords(int pageId) {
        int count = Leaf.count(pages.address(pageId));
        for (int i = 0; i < count; i++) {
            freeChains(Record.base(Leaf.record(pages.address(pageId), i), wide));
            pages.safepoint();
        }
    }

    private void freeChildren(int pageId) {
        int count = Inner.count(pages.address(pageId));
        for (int i = 0; i < count; i++) {
            free(Inner.child(pages.address(pageId), i));
            pages.safepoint();
        }
    }

    private void freeChains(long base) {
        int valueChain = Record.isValueChained(base) ? Memory.getInt(Record.valueAt(base)) : 0;
        int keyChain = Record.isKeyChained(base) ? Record.keyChain(base) : 0;
        chains.free(valueChain);
        chains.free(keyChain);
    }

    /** The tree that a snapshot had, in a store that was opened from its image. */
    public void load(DataInput in) throws IOException {
        root = in.readInt();
        size = in.readLong();
    }

    /** The tree as it is now, to be read from a snapshot that is taken in the same moment. */
    public FrozenTree freeze(PageSource snapshot) {
        return new FrozenTree(snapshot, root, wide, size);
    }
}
