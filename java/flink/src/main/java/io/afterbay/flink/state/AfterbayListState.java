package io.afterbay.flink.state;

import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.util.Preconditions;
import org.jspecify.annotations.Nullable;

/**
 * {@code ListState}. Short lists are read at once; long ones lazily, so that they may exceed memory
 * and 2 GB.
 */
final class AfterbayListState<K, N, T> extends AbstractAfterbayState<K, N, List<T>>
        implements InternalListState<K, N, T> {
    /** Up to this many serialised bytes a list is deserialised as a whole when it is read. */
    static final int EAGER_BYTES_MAX = 64 * 1024;

    private static final byte DELIMITER = ',';

    /** Null until the list's layout is decided, which the first write does. */
    private @Nullable ListStore lists;

    private TypeSerializer<T> elementSerializer;
    private final StateKey mergeTarget = new StateKey();

    AfterbayListState(StateContext<K> context, KvState<N, List<T>> state) {
        super(context, state);
        elementSerializer = elementSerializer(getValueSerializer());
    }

    @Override
    void reopen() {
        lists = null;
        elementSerializer = elementSerializer(getValueSerializer());
    }

    private static <T> TypeSerializer<T> elementSerializer(TypeSerializer<List<T>> serializer) {
        return ((ListSerializer<T>) serializer).getElementSerializer();
    }

    private @Nullable ListStore listsIfWritten() {
        return lists == null && state.alignment() == null ? null : lists();
    }

    private ListStore lists() {
        if (lists == null) {
            lists = state.lists(store(), context.registry());
        }
        return lists;
    }

    private @Nullable ListReader reader() {
        return reader(address());
    }

    private @Nullable ListReader reader(StateKey at) {
        ListStore written = listsIfWritten();
        ListReader reader = written == null ? null : written.get(at);
        if (reader != null) {
            currentKey().readerHandedOut();
        }
        return reader;
    }

    @Override
    public @Nullable Iterable<T> get() {
        beginAccess();
        ListReader reader = reader();
        if (reader == null) {
            return null;
        }
        return reader.bytes() <= EAGER_BYTES_MAX ? readAll(reader) : readLazily(reader);
    }

    private LazyList<T> readLazily(ListReader reader) {
        StateKey at = StateKey.copyOf(address());
        return new LazyList<>(state, reader, () -> reader(at), elementSerializer, currentKey());
    }

    @Override
    public @Nullable List<T> getInternal() {
        beginAccess();
        ListReader reader = reader();
        return reader == null ? null : readAll(reader);
    }

    private List<T> readAll(ListReader reader) {
        List<T> list = new ArrayList<>((int) Math.min(reader.size(), 1 << 20));
        ListReader.Elements elements = reader.elements();
        try {
            while (elements.next(slice)) {
                in.setBuffer(slice.array(), 0, slice.length());
                list.add(elementSerializer.deserialize(in));
            }
        } catch (IOException e) {
            throw failed("deserialise an element of", e);
        }
        return list;
    }

    @Override
    public void add(T value) {
        beginAccess();
        Preconditions.checkNotNull(value, "You cannot add null to a ListState.");
        append(value);
    }

    private void append(T value) {
        out.clear();
        try {
            elementSerializer.serialize(value, out);
        } catch (IOException e) {
            throw failed("serialise an element of", e);
        }
        lists().append(address(), out.getSharedBuffer(), 0, out.length());
    }

    @Override
    public void addAll(List<T> values) {
        beginAccess();
        checkElements(values);
        values.forEach(this::append);
    }

    @Override
    public void update(List<T> values) {
        beginAccess();
        checkElements(values);
        clear();
        values.forEach(this::append);
    }

    private static void checkElements(List<?> values) {
        Preconditions.checkNotNull(values, "List of values to add cannot be null.");
        for (Object value : values) {
            Preconditions.checkNotNull(value, "You cannot add null to a ListState.");
        }
    }

    @Override
    public void updateInternal(List<T> values) {
        beginAccess();
        update(values);
    }

    @Override
    public void clear() {
        beginAccess();
        ListStore written = listsIfWritten();
        if (written != null) {
            state.countRemoval();
            written.clear(address());
        }
    }

    @Override
    public void mergeNamespaces(N target, @Nullable Collection<N> sources) {
        beginAccess();
        ListStore written = listsIfWritten();
        if (sources == null || sources.isEmpty() || written == null) {
            return;
        }
        setCurrentNamespace(target);
        mergeTarget.set(address());
        for (N source : sources) {
            if (!target.equals(source)) {
                setCurrentNamespace(source);
                state.countRemoval();
                written.merge(mergeTarget, address());
            }
        }
        setCurrentNamespace(target);
    }

    /**
     * Elements with a comma between them, as Flink's {@code ListDelimitedSerializer} reads them.
     */
    @Override
    byte @Nullable [] serializedValue(StateKey at, TypeSerializer<List<T>> serializer)
            throws IOException {
        if (state.alignment() == null) {
            return null;
        }
        ListReader reader = state.lists(store(), context.registry()).get(at);
        if (reader == null) {
            return null;
        }
        currentKey().readerHandedOut();
        DataOutputSerializer joined = new DataOutputSerializer(128);
        ListReader.Elements elements = reader.elements();
        Slice element = new Slice();
        while (elements.next(element)) {
            if (joined.length() > 0) {
                joined.write(DELIMITER);
            }
            joined.write(element.array(), 0, element.length());
        }
        return joined.getCopyOfBuffer();
    }
}
