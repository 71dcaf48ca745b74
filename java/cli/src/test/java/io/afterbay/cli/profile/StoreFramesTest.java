package io.afterbay.cli.profile;

import static io.afterbay.cli.profile.StoreOperation.READ;
import static io.afterbay.cli.profile.StoreOperation.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stacks as Flight Recorder and async-profiler showed them, the outermost frame first here. */
class StoreFramesTest {
    private static final String WINDOWS =
            "org.apache.flink.streaming.runtime.operators.windowing.WindowOperator.";
    private static final String HEAP = "org.apache.flink.runtime.state.heap.";
    private static final String ROCKSDB = "org.apache.flink.state.rocksdb.";
    private static final String STATE = "io.afterbay.flink.state.";

    private static StoreOperation of(String... outermostFirst) {
        List<Frame> stack =
                Arrays.asList(
                        Arrays.stream(outermostFirst)
                                .map(StoreFramesTest::frame)
                                .toArray(Frame[]::new));
        Collections.reverse(stack);
        return StoreFrames.of(stack);
    }

    private static Frame frame(String text) {
        int dot = text.lastIndexOf('.');
        return new Frame(text.substring(0, dot), text.substring(dot + 1));
    }

    @Test
    void theEngineAndTheJobAreNoOperation() {
        assertThat(of()).isNull();
        assertThat(
                        of(
                                "org.apache.flink.streaming.runtime.tasks.StreamTask.invoke",
                                WINDOWS + "processElement",
                                "java.util.HashMap.get"))
                .isNull();
        assertThat(of(ROCKSDB + "RocksDBKeyedStateBackend.snapshot", "org.rocksdb.X.flush"))
                .as("a checkpoint")
                .isNull();
    }

    @Test
    void serialisationBelongsToTheOperation() {
        assertThat(
                        of(
                                WINDOWS + "processElement",
                                STATE + "AfterbayListState.add",
                                STATE + "AfterbayListState.append",
                                "io.afterbay.workloads.nexmark.BidSerializer.serialize"))
                .isEqualTo(WRITE);
        assertThat(
                        of(
                                ROCKSDB + "RocksDBListState.get",
                                ROCKSDB + "RocksDBListState.getInternal",
                                "org.apache.flink.runtime.state.ListDelimitedSerializer.deserializeList",
                                "java.util.ArrayList.add"))
                .isEqualTo(READ);
    }

    /** A lookup for an update is a read, with the backends that do the two one after the other. */
    @ParameterizedTest
    @ValueSource(
            strings = {STATE + "AfterbayAggregatingState.", ROCKSDB + "RocksDBAggregatingState."})
    void partsOfAnUpdateAreToldApart(String state) {
        boolean ours = state.startsWith(STATE);
        String inherited =
                ours
                        ? STATE + "AbstractSingleValueState."
                        : ROCKSDB + "AbstractRocksDBAppendingState.";
        assertThat(of(WINDOWS + "processElement", state + "add", "x.Count.add")).isEqualTo(WRITE);
        assertThat(of(state + "add", inherited + (ours ? "read" : "getInternal"), "x.Y.z"))
                .isEqualTo(READ);
        assertThat(of(state + "add", inherited + (ours ? "write" : "updateInternal"), "x.Y.z"))
                .isEqualTo(WRITE);
        assertThat(of(state + "mergeNamespaces", inherited + "getInternal", "x.Y.z"))
                .isEqualTo(READ);
        assertThat(of(state + "get", "x.Count.getResult")).isEqualTo(READ);
    }

    @Test
    void mergesOfRocksDbCallTheLibraryThemselves() {
        String merge = ROCKSDB + "RocksDBReducingState.mergeNamespaces";
        assertThat(of(merge, "org.rocksdb.RocksDB.get", "org.rocksdb.RocksDB.get")).isEqualTo(READ);
        assertThat(of(merge, "org.rocksdb.RocksDB.delete")).isEqualTo(WRITE);
        assertThat(of(merge, "org.rocksdb.RocksDB.put")).isEqualTo(WRITE);
    }

    @Test
    void anUpdateOnTheHeapIsOneWrite() {
        assertThat(
                        of(
                                HEAP + "HeapAggregatingState.add",
                                HEAP + "StateTable.transform",
                                HEAP + "CopyOnWriteStateMap.transform"))
                .isEqualTo(WRITE);
        assertThat(of(HEAP + "HeapAggregatingState.get", HEAP + "StateTable.get")).isEqualTo(READ);
        assertThat(of(HEAP + "AbstractHeapMergingState.mergeNamespaces")).isEqualTo(WRITE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "io.afterbay.flink.timers.TriggerQueue.",
                ROCKSDB + "RocksDBCachingPriorityQueueSet.",
                HEAP + "KeyGroupPartitionedPriorityQueue.",
                HEAP + "HeapPriorityQueueSet."
            })
    void timersAreWrittenAndTaken(String queue) {
        String service = "org.apache.flink.streaming.api.operators.InternalTimerServiceImpl.";
        assertThat(of(service + "registerEventTimeTimer", queue + "add", "x.Y.z")).isEqualTo(WRITE);
        assertThat(of(service + "deleteEventTimeTimer", queue + "remove")).isEqualTo(WRITE);
        assertThat(of(service + "tryAdvanceWatermark", queue + "peek")).isEqualTo(READ);
        assertThat(
                        of(
                                service + "tryAdvanceWatermark",
                                queue + "poll",
                                "org.rocksdb.RocksDB.delete"))
                .isEqualTo(READ);
    }

    /** What a window does when its timer fires is not the taking of the timer. */
    @Test
    void whatATimerSetsOffCountsByItself() {
        String fired = "org.apache.flink.streaming.api.operators.InternalTimerServiceImpl.";
        assertThat(of(fired + "tryAdvanceWatermark", WINDOWS + "onEventTime")).isNull();
        assertThat(
                        of(
                                fired + "tryAdvanceWatermark",
                                WINDOWS + "onEventTime",
                                HEAP + "HeapListState.get"))
                .isEqualTo(READ);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.apache.flink.runtime.state.AbstractKeyedStateBackend.setCurrentKey",
                "io.afterbay.flink.AfterbayKeyedStateBackend.setCurrentKey",
                ROCKSDB + "RocksDBKeyedStateBackend.setCurrentKeyAndKeyGroup"
            })
    void theKeyIsChosenForAWrite(String method) {
        assertThat(of(method, "x.KeySerializer.serialize")).isEqualTo(WRITE);
    }

    @Test
    void nestedClassesAndLambdasAreThoseAroundThem() {
        assertThat(of(ROCKSDB + "RocksDBMapState$RocksDBMapIterator.hasNext")).isEqualTo(READ);
        assertThat(of(ROCKSDB + "RocksDBMapState$RocksDBMapEntry.setValue")).isEqualTo(WRITE);
        assertThat(of(STATE + "LazyList$Pass.next", "x.Serializer.deserialize")).isEqualTo(READ);
        assertThat(of(STATE + "CursorIterator.next")).isEqualTo(READ);
    }

    /** The table would be silent about a class or a method that has got another name. */
    @Test
    void whatIsInTheTableExists() throws Exception {
        Map<StoreFrames.Kind, Set<String>> found = new EnumMap<>(StoreFrames.Kind.class);
        for (Map.Entry<String, StoreFrames.Kind> row : StoreFrames.classes().entrySet()) {
            Set<String> methods = found.computeIfAbsent(row.getValue(), kind -> new HashSet<>());
            Class<?> type = named(row.getKey());
            addMethods(type, methods);
            for (Class<?> nested : type.getDeclaredClasses()) {
                addMethods(nested, methods);
            }
            if (type.getSimpleName().equals("RocksDBMapState")) {
                addMethods(named(row.getKey() + "$1"), methods); // an anonymous iterator
            }
        }
        found.forEach((kind, methods) -> assertThat(methods).containsAll(kind.methods()));
        assertThat(found).containsOnlyKeys(StoreFrames.Kind.values());
    }

    private static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName(name, false, StoreFramesTest.class.getClassLoader());
    }

    private static void addMethods(Class<?> type, Set<String> methods) {
        Arrays.stream(type.getDeclaredMethods()).map(Method::getName).forEach(methods::add);
    }
}
