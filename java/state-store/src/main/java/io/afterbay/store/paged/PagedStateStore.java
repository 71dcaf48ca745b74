package io.afterbay.store.paged;

import io.afterbay.store.ImageFiles;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateKind;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.StoreStats;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.page.PageSnapshot;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
import io.afterbay.store.redo.RedoSink;
import io.afterbay.store.tree.Chains;
import java.io.IOException;
import java.io.InputStream;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The state store. All states share one {@link PageStore}, which bounds memory, spills, and freezes
 * pages for snapshots; so a state is only a way to lay entries out on pages:
 *
 * <pre>
 *   values     lists              maps       triggers            this package
 *     |          |    \             |           |   \
 *   hot        hot    \             |           |    \           in use now: a ring of records
 *     |          |     \            |           |     \
 *   tree       tree   append      tree        tree   near       package near
 *     |        |  \   logs          |           |                package tree
 *     |        | chains |           |           |
 *   +------------------------------------------------+
 *   |  pages in memory  <-->  segment log on disk     |          package page
 *   +------------------------------------------------+
 * </pre>
 *
 * <p>Invariants: each public operation starts with a safepoint of the page store and holds
 * addresses only up to the next one. Entries of a key group are neighbours in each tree. A list's
 * elements in the tree are older than those in a log. A record of the hot tier counts before what
 * the tree says.
 */
public final class PagedStateStore implements StateStore {
    private final StoreOptions options;
    private final PageStore pages;
    private final Chains chains;
    private final Readers readers;
    private final HotEntries hot;
    private final RedoLog redo = new RedoLog();
    private final Map<String, State> states = new LinkedHashMap<>();
    private boolean isReplaying;

    public PagedStateStore(StoreOptions options) {
        this.options = options;
        pages = new PageStore(options);
        chains = new Chains(pages);
        readers = new Readers(pages, chains);
        hot = new HotEntries(pages, redo, options.tuning().hotTierPart());
        pages.reserves().onShrink(this::giveBack);
    }

    /** Takes over the content of an image; into a new store. */
    public void load(InputStream index, ImageFiles files) throws IOException {
        new ImageIndex(options).read(index, pages, files, this::open);
    }

    private State open(String name, StateKind kind) {
        switch (kind) {
            case VALUES -> values(name);
            case ALIGNED_LISTS -> lists(name, ReadAlignment.ALIGNED);
            case UNALIGNED_LISTS -> lists(name, ReadAlignment.UNALIGNED);
            case MAPS -> maps(name);
            case TRIGGERS -> triggers(name);
        }
        return Objects.requireNonNull(states.get(name));
    }

    @Override
    public ValueStore values(String name) {
        return state(name, HotValues.class, () -> newValues(name));
    }

    private HotValues newValues(String name) {
        RedoLog.OfState changes = redo.state(name, StateKind.VALUES);
        return new HotValues(new PagedValues(pages, chains), hot, changes);
    }

    @Override
    public ListStore lists(String name, ReadAlignment alignment) {
        return state(name, ListState.class, () -> newLists(name, alignment));
    }

    /** Aligned lists have logs, which is as good as memory for what is only appended to. */
    private ListState newLists(String name, ReadAlignment alignment) {
        RedoLog.OfState changes = redo.state(name, StateKind.of(alignment));
        PagedLists lists = new PagedLists(pages, chains, readers, alignment, options, changes);
        return alignment == ReadAlignment.ALIGNED ? lists : new HotLists(lists, hot, changes);
    }

    @Override
    public MapStore maps(String name) {
        return state(
                name,
                PagedMaps.class,
                () -> new PagedMaps(pages, chains, redo.state(name, StateKind.MAPS)));
    }

    @Override
    public TriggerSchedule triggers(String name) {
        return state(
                name,
                PagedTriggers.class,
                () ->
                        new PagedTriggers(
                                pages, chains, options, redo.state(name, StateKind.TRIGGERS)));
    }

    private <S extends State> S state(String name, Class<S> shape, Supplier<S> create) {
        pages.checkOpen();
        State state = states.computeIfAbsent(name, absent -> opened(create.get()));
        if (!shape.isInstance(state)) {
            throw new IllegalArgumentException(
                    "state " + name + " of store " + options.name() + " holds " + state.shape());
        }
        return shape.cast(state);
    }

    private State opened(State state) {
        if (isReplaying) {
            state.beginReplay();
        }
        return state;
    }

    @Override
    public void drop(String name) {
        pages.checkOpen();
        State state = states.remove(name);
        if (state != null) {
            readers.release(); // some may be of this state
            state.free();
            redo.dropped(name);
        }
    }

    @Override
    public void releaseReaders() {
        readers.release();
    }

    @Override
    public boolean readsAhead() {
        return pages.readAhead().isUseful();
    }

    @Override
    public StoreSnapshot snapshot() {
        settle();
        PageSnapshot frozen = pages.freeze();
        Map<String, FrozenState> content = new LinkedHashMap<>();
        states.forEach((name, state) -> content.put(name, state.freeze(frozen)));
        return new PagedSnapshot(frozen, content, new ImageIndex(options));
    }

    private void settle() {
        hot.settle();
        states.values().forEach(State::settle);
    }

    @Override
    public void startRedo(RedoSink sink) {
        pages.checkOpen();
        settle();
        redo.start(sink);
    }

    @Override
    public void beginReplay(long bytes) {
        pages.checkOpen();
        settle();
        isReplaying = true;
        hot.beginReplay(bytes);
        states.values().forEach(State::beginReplay);
    }

    @Override
    public void continueReplay() {
        giveBack();
        pages.safepoint();
    }

    @Override
    public void endReplay() {
        isReplaying = false;
        hot.endReplay();
        states.values().forEach(State::endReplay);
    }

    @Override
    public void resumeRedo(RedoSink sink) {
        pages.checkOpen();
        redo.start(sink);
    }

    @Override
    public void flushRedo() {
        pages.checkUsable();
        hot.logChanges();
        states.values().forEach(State::logChanges);
        redo.flush();
    }

    @Override
    public void expectSnapshot(boolean expected) {
        pages.checkUsable();
        boolean prepares = expected && !pages.isArriving(); // else it would fetch from far away
        hot.expectSnapshot(prepares);
        states.values().forEach(state -> state.expectSnapshot(prepares));
    }

    @Override
    public boolean isSnapshotPrepared() {
        return hot.isPrepared() && states.values().stream().allMatch(State::isPrepared);
    }

    @Override
    public Map<Integer, BitSet> chunksOf(int firstKeyGroup, int lastKeyGroup) {
        pages.checkOpen();
        return pages.chunksOf(firstKeyGroup, lastKeyGroup, ArrivingFile.CHUNK_BYTES);
    }

    @Override
    public void endRedo() {
        redo.stop();
    }

    private void giveBack() {
        hot.giveBack();
        states.values().forEach(State::giveBack);
    }

    @Override
    public StoreStats stats() {
        return pages.stats();
    }

    @Override
    public boolean hasFailed() {
        return pages.hasFailed();
    }

    @Override
    public void close() {
        states.values().forEach(State::close);
        hot.free();
        pages.close();
    }
}
