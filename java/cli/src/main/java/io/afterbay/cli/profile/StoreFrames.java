package io.afterbay.cli.profile;

import static io.afterbay.cli.profile.StoreFrames.Kind.BACKEND;
import static io.afterbay.cli.profile.StoreFrames.Kind.FOLDING;
import static io.afterbay.cli.profile.StoreFrames.Kind.INNER;
import static io.afterbay.cli.profile.StoreFrames.Kind.ITERATOR;
import static io.afterbay.cli.profile.StoreFrames.Kind.ROCKSDB;
import static io.afterbay.cli.profile.StoreFrames.Kind.STATE;
import static io.afterbay.cli.profile.StoreFrames.Kind.TIMERS;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which operation of the state backend a stack is in: the outermost frame that is a method of a
 * state, a timer queue or the choice of the key decides, so what lies below it counts to it,
 * (de)serialisation included. A method that reads and writes leaves it to the frames inside it.
 *
 * <p>Everything else is the engine and the job: also checkpoints on the task's thread, and what the
 * job does with a collection that {@code hashmap} gave it.
 */
public final class StoreFrames {
    private static final String AFTERBAY = "io.afterbay.flink.";
    private static final String RUNTIME = "org.apache.flink.runtime.state.";
    private static final String HEAP = RUNTIME + "heap.";
    private static final String FLINK_ROCKSDB = "org.apache.flink.state.rocksdb.";

    /** Methods of alike classes; nested classes and lambdas count with the class around them. */
    enum Kind {
        /** {@code ValueState}, {@code ListState} and {@code MapState}, with what they iterate. */
        STATE(
                Set.of(
                        "value",
                        "get",
                        "getInternal",
                        "contains",
                        "isEmpty",
                        "entries",
                        "keys",
                        "values",
                        "iterator",
                        "hasNext",
                        "next",
                        "nextEntry",
                        "getKey",
                        "getValue"),
                Set.of(
                        "update",
                        "updateInternal",
                        "add",
                        "addAll",
                        "put",
                        "putAll",
                        "remove",
                        "setValue",
                        "clear",
                        "mergeNamespaces"),
                Set.of()),

        /**
         * {@code ReducingState} and {@code AggregatingState}, with the function of the job, which
         * they call in between.
         */
        FOLDING(
                Set.of("get", "getInternal"),
                Set.of("updateInternal"),
                Set.of("add", "mergeNamespaces")),

        /** What states inherit, and the parts of methods that read and write. */
        INNER(
                Set.of("getInternal", "read", "readStored"),
                Set.of(
                        "updateInternal",
                        "write",
                        "writeStored",
                        "removeStored",
                        "clear",
                        "mergeNamespaces"),
                Set.of()),

        /** Iterators that are classes of their own. */
        ITERATOR(Set.of("hasNext", "next"), Set.of("remove"), Set.of()),

        /** Queues of timers. A task peeks at the head, and takes it when it fires. */
        TIMERS(Set.of("peek", "poll", "isEmpty"), Set.of("add", "addAll", "remove"), Set.of()),

        /** The choice of the key: hashed, and serialised where keys are. */
        BACKEND(Set.of(), Set.of("setCurrentKey", "setCurrentKeyAndKeyGroup"), Set.of()),

        /** Calls of the library, inside of methods that read and write. */
        ROCKSDB(
                Set.of("get", "newIterator", "seek", "next", "isValid", "key", "value"),
                Set.of("put", "merge", "delete", "write"),
                Set.of());

        private final Set<String> reads;
        private final Set<String> writes;
        private final Set<String> both;

        Kind(Set<String> reads, Set<String> writes, Set<String> both) {
            this.reads = reads;
            this.writes = writes;
            this.both = both;
        }

        /** The names of all methods that matter. */
        Set<String> methods() {
            Set<String> all = new HashSet<>(reads);
            all.addAll(writes);
            all.addAll(both);
            return all;
        }
    }

    private static final Map<String, Kind> CLASSES =
            Map.ofEntries(
                    // Any backend: those of Flink hash the key here, ours and RocksDB's call it.
                    Map.entry(RUNTIME + "AbstractKeyedStateBackend", BACKEND),
                    // afterbay
                    Map.entry(AFTERBAY + "AfterbayKeyedStateBackend", BACKEND),
                    Map.entry(AFTERBAY + "state.AfterbayValueState", STATE),
                    Map.entry(AFTERBAY + "state.AfterbayListState", STATE),
                    Map.entry(AFTERBAY + "state.AfterbayMapState", STATE),
                    Map.entry(AFTERBAY + "state.AfterbayReducingState", FOLDING),
                    Map.entry(AFTERBAY + "state.AfterbayAggregatingState", FOLDING),
                    Map.entry(AFTERBAY + "state.AbstractFoldingState", FOLDING),
                    Map.entry(AFTERBAY + "state.AbstractSingleValueState", INNER),
                    Map.entry(AFTERBAY + "state.LazyList", ITERATOR), // of ListState.get
                    Map.entry(AFTERBAY + "state.CursorIterator", ITERATOR), // of MapState
                    Map.entry(AFTERBAY + "timers.TriggerQueue", TIMERS),
                    // rocksdb, rocksdb-heap-timers
                    Map.entry(FLINK_ROCKSDB + "RocksDBKeyedStateBackend", BACKEND),
                    Map.entry(FLINK_ROCKSDB + "RocksDBValueState", STATE),
                    Map.entry(FLINK_ROCKSDB + "RocksDBListState", STATE),
                    Map.entry(FLINK_ROCKSDB + "RocksDBMapState", STATE),
                    Map.entry(FLINK_ROCKSDB + "RocksDBReducingState", FOLDING),
                    Map.entry(FLINK_ROCKSDB + "RocksDBAggregatingState", FOLDING),
                    Map.entry(FLINK_ROCKSDB + "AbstractRocksDBAppendingState", INNER),
                    Map.entry(FLINK_ROCKSDB + "AbstractRocksDBState", INNER),
                    Map.entry(FLINK_ROCKSDB + "RocksDBCachingPriorityQueueSet", TIMERS),
                    Map.entry("org.rocksdb.RocksDB", ROCKSDB),
                    Map.entry("org.rocksdb.AbstractRocksIterator", ROCKSDB),
                    Map.entry("org.rocksdb.RocksIterator", ROCKSDB),
                    // hashmap; the timers are those of rocksdb-heap-timers too
                    Map.entry(HEAP + "HeapValueState", STATE),
                    Map.entry(HEAP + "HeapListState", STATE),
                    Map.entry(HEAP + "HeapMapState", STATE),
                    Map.entry(HEAP + "HeapReducingState", FOLDING),
                    Map.entry(HEAP + "HeapAggregatingState", FOLDING),
                    Map.entry(HEAP + "AbstractHeapAppendingState", INNER),
                    Map.entry(HEAP + "AbstractHeapMergingState", INNER),
                    Map.entry(HEAP + "AbstractHeapState", INNER),
                    Map.entry(HEAP + "HeapPriorityQueueSet", TIMERS),
                    Map.entry(HEAP + "HeapPriorityQueue", TIMERS),
                    Map.entry(HEAP + "AbstractHeapPriorityQueue", TIMERS),
                    Map.entry(HEAP + "KeyGroupPartitionedPriorityQueue", TIMERS));

    private StoreFrames() {}

    /** The table, by the names of classes. */
    static Map<String, Kind> classes() {
        return CLASSES;
    }

    /**
     * The operation; null if the stack is in none.
     *
     * @param stack the innermost frame first
     */
    public static @Nullable StoreOperation of(List<Frame> stack) {
        StoreOperation operation = null;
        for (int at = stack.size() - 1; at >= 0; at--) {
            Frame frame = stack.get(at);
            Kind kind = CLASSES.get(frame.outerClass());
            if (kind == null) {
                continue;
            }
            if (kind.reads.contains(frame.method())) {
                return StoreOperation.READ;
            }
            if (kind.writes.contains(frame.method())) {
                return StoreOperation.WRITE;
            }
            if (kind.both.contains(frame.method())) {
                operation = StoreOperation.WRITE; // unless a frame inside says otherwise
            }
        }
        return operation;
    }
}
