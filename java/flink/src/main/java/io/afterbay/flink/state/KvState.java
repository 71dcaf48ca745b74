package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListStore;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.jspecify.annotations.Nullable;

/** A registered keyed state: its meta data and where it lies in the store. */
public final class KvState<N, V> {
    private RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo;
    private final StateShape shape;
    private @Nullable ReadAlignment alignment;
    private @Nullable TtlFilter ttl;
    private long removals;

    public KvState(RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo) {
        this.metaInfo = metaInfo;
        this.shape = StateShape.of(metaInfo.getStateType());
    }

    public String name() {
        return metaInfo.getName();
    }

    /** Apart from the names of timer queues, which may be the same. */
    public String storeName() {
        return "state/" + name();
    }

    public StateShape shape() {
        return shape;
    }

    public RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo() {
        return metaInfo;
    }

    void setMetaInfo(RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo) {
        this.metaInfo = metaInfo;
    }

    /** Of lists that have been written to; null before. */
    public @Nullable ReadAlignment alignment() {
        return alignment;
    }

    public void setAlignment(ReadAlignment alignment) {
        this.alignment = alignment;
    }

    /** How to tell what has expired; null if nothing does, or may not be dropped. */
    public @Nullable TtlFilter ttl() {
        return ttl;
    }

    void setTtl(StateTtlConfig config) {
        ttl = TtlFilter.wanted(config) ? TtlFilter.of(config, shape) : null;
    }

    /** Grows whenever a list of this state loses elements that it had. */
    long removals() {
        return removals;
    }

    void countRemoval() {
        removals++;
    }

    /**
     * The lists of this state, laid out as {@link ListLayout} finds best unless that is decided.
     */
    public ListStore lists(StateStore store, StateRegistry registry) {
        if (alignment == null) {
            alignment = ListLayout.choose(metaInfo.getNamespaceSerializer(), registry);
        }
        return store.lists(storeName(), alignment);
    }

    /** All entries of a range of key groups, whatever the shape. */
    public EntryCursor scan(StateStore store, int firstKeyGroup, int lastKeyGroup) {
        return switch (shape) {
            case VALUE -> store.values(storeName()).scan(firstKeyGroup, lastKeyGroup);
            case MAP -> store.maps(storeName()).scan(firstKeyGroup, lastKeyGroup);
            case LIST ->
                    alignment == null
                            ? EmptyCursor.INSTANCE
                            : store.lists(storeName(), alignment).scan(firstKeyGroup, lastKeyGroup);
            default -> throw new IllegalStateException(name() + " has shape " + shape);
        };
    }
}
