package io.afterbay.flink.correctness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.contract.BackendUnderTest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * States of one value against plain maps, in random order, under more keys than the object tier has
 * room for; whoever looks at the store beside the states (snapshots, scans, queries) sees what the
 * maps have. Mutable values are changed after they were handed over, and after they were read.
 */
class ObjectTierTest {
    private static final int KEYS = 25;
    private static final int WINDOWS = 3;
    private static final int STEPS = 12_000;

    /** Values of which some are too long for the tier, and others become so. */
    private static final int LENGTH_MAX = 1500;

    private static TimeWindow window(int number) {
        return new TimeWindow(number * 10L, number * 10L + 10);
    }

    private record At(String key, TimeWindow window) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void fewObjects(long seed) throws Exception {
        Gauges gauges = new Gauges();
        run(seed, BackendUnderTest.createWithFewObjects(), gauges, lists());
        assertThat(gauges.read("objectHits")).isPositive();
        assertThat(gauges.read("objectMisses")).isPositive();
        assertThat(gauges.read("objectWriteBacks")).isPositive();
    }

    @Test
    void manyObjects() throws Exception {
        run(4, BackendUnderTest.createWithObjects(), new Gauges(), lists());
    }

    @Test
    void noObjects() throws Exception {
        Gauges gauges = new Gauges();
        run(5, BackendUnderTest.create(), gauges, lists());
        assertThat(gauges.read("objectHits")).isZero();
    }

    /** Keys that never come again are not worth a place. */
    @Test
    void restsWhereNothingIsMetAgain() throws Exception {
        Gauges gauges = new Gauges();
        try (Backends backends = new Backends()) {
            backends.metrics = gauges;
            AbstractKeyedStateBackend<String> backend =
                    backends.create(BackendUnderTest.createWithObjects(), 8, List.of());
            InternalValueState<String, TimeWindow, Long> counts =
                    Backends.windowed(
                            backend, new ValueStateDescriptor<>("counts", LongSerializer.INSTANCE));
            counts.setCurrentNamespace(window(0));
            for (long key = 0; key < 150_000; key++) {
                backend.setCurrentKey("key" + key);
                counts.update(key);
            }
            for (long key = 0; key < 150_000; key += 100) {
                backend.setCurrentKey("key" + key);
                assertThat(counts.value()).isEqualTo(key);
            }
            Backends.checkpoint(backend);
        }
        assertThat(gauges.read("objectMisses")).isBetween(1L << 16, 1L << 17);
    }

    /** Negative control: were mutable objects shared, this test would notice. */
    @Test
    void noticesSharedMutableObjects() {
        assertThatThrownBy(
                        () ->
                                run(
                                        6,
                                        BackendUnderTest.createWithObjects(),
                                        new Gauges(),
                                        new SharedLists()))
                .isInstanceOf(AssertionError.class);
    }

    private static TypeSerializer<List<Long>> lists() {
        return new ListSerializer<>(LongSerializer.INSTANCE);
    }

    private static void run(
            long seed, StateBackend type, Gauges gauges, TypeSerializer<List<Long>> lists)
            throws Exception {
        try (Backends backends = new Backends()) {
            backends.metrics = gauges;
            Model model = new Model(seed, backends, type, lists);
            for (int step = 0; step < STEPS; step++) {
                model.step();
            }
            model.checkAll();
            model.checkpointAndRestore();
            model.checkAll();
            model.checkAndSample();
        }
    }

    private static final class Model {
        private final Random random;
        private final Backends backends;
        private final StateBackend type;
        private final TypeSerializer<List<Long>> lists;
        private final Map<At, Long> counts = new HashMap<>();
        private final Map<At, String> texts = new HashMap<>();
        private final Map<At, Integer> sums = new HashMap<>();
        private final Map<At, Long> folded = new HashMap<>();
        private final Map<At, List<Long>> mutable = new HashMap<>();
        private AbstractKeyedStateBackend<String> backend;
        private ValueState<Long> countState;
        private ValueState<String> textState;
        private ReducingState<Integer> sumState;
        private AggregatingState<Long, Long> foldedState;
        private ValueState<List<Long>> mutableState;

        Model(long seed, Backends backends, StateBackend type, TypeSerializer<List<Long>> lists)
                throws Exception {
            this.random = new Random(seed);
            this.backends = backends;
            this.type = type;
            this.lists = lists;
            open(List.of());
        }

        private void open(List<KeyedStateHandle> restore) throws Exception {
            backend = backends.create(type, 8, restore);
            countState = windowed(new ValueStateDescriptor<>("counts", LongSerializer.INSTANCE));
            textState = windowed(new ValueStateDescriptor<>("texts", StringSerializer.INSTANCE));
            sumState =
                    windowed(
                            new ReducingStateDescriptor<>(
                                    "sums", Integer::sum, IntSerializer.INSTANCE));
            foldedState =
                    windowed(
                            new AggregatingStateDescriptor<>(
                                    "folded", new Xor(), LongSerializer.INSTANCE));
            mutableState = windowed(new ValueStateDescriptor<>("mutable", lists));
        }

        @SuppressWarnings("unchecked") // the states are those of the descriptors
        private <S extends State> S windowed(StateDescriptor<S, ?> descriptor) throws Exception {
            return (S) (Object) Backends.windowed(backend, descriptor);
        }

        @SuppressWarnings("unchecked")
        private void at(At at) {
            if (!at.key.equals(backend.getCurrentKey())) {
                backend.setCurrentKey(at.key);
            }
            for (Object state :
                    List.of(countState, textState, sumState, foldedState, mutableState)) {
                ((InternalKvState<String, TimeWindow, ?>) state).setCurrentNamespace(at.window);
            }
        }

        private At anywhere() {
            return new At("key" + random.nextInt(KEYS), window(random.nextInt(WINDOWS)));
        }

        void step() throws Exception {
            At at = anywhere();
            at(at);
            switch (random.nextInt(20)) {
                case 0, 1, 2 -> count(at);
                case 3 -> clearCount(at);
                case 4, 5 -> text(at);
                case 6 -> clearText(at);
                case 7, 8, 9, 10 -> add(at);
                case 11 -> clearFolds(at);
                case 12 -> merge(at);
                case 13, 14, 15, 16 -> mutate(at);
                case 17 -> check(at);
                case 18 -> query(at);
                default -> rarely();
            }
        }

        private void rarely() throws Exception {
            switch (random.nextInt(40)) {
                case 0 -> checkpointAndRestore();
                case 1 -> open(List.of(handOver(Backends.canonicalSavepoint(backend))));
                case 2 -> Backends.checkpoint(backend);
                case 3, 4, 5 -> keys();
                default -> {}
            }
        }

        void checkpointAndRestore() throws Exception {
            open(List.of(handOver(Backends.checkpoint(backend))));
        }

        /** Figures are sampled at checkpoints. */
        void checkAndSample() throws Exception {
            for (int i = 0; i < 500; i++) {
                At at = anywhere();
                at(at);
                add(at);
                check(at);
            }
            Backends.checkpoint(backend);
        }

        private KeyedStateHandle handOver(KeyedStateHandle handle) {
            backends.dispose(backend);
            return handle;
        }

        /** With or without a read before. */
        private void count(At at) throws Exception {
            if (random.nextBoolean()) {
                Long before = countState.value();
                assertThat(before).isEqualTo(counts.get(at));
                countState.update(before == null ? 1 : before + 1);
                counts.merge(at, 1L, Long::sum);
            } else {
                long value = random.nextLong();
                countState.update(value);
                counts.put(at, value);
            }
        }

        private void clearCount(At at) throws Exception {
            if (random.nextBoolean()) {
                countState.clear();
            } else {
                countState.update(null);
            }
            counts.remove(at);
        }

        private void text(At at) throws Exception {
            String value = "x".repeat(random.nextInt(4) == 0 ? LENGTH_MAX : random.nextInt(9));
            if (random.nextBoolean()) {
                assertThat(textState.value()).isEqualTo(texts.get(at));
            }
            textState.update(value);
            texts.put(at, value);
        }

        private void clearText(At at) {
            textState.clear();
            texts.remove(at);
        }

        private void add(At at) throws Exception {
            int value = random.nextInt(100);
            sumState.add(value);
            sums.merge(at, value, Integer::sum);
            foldedState.add((long) value);
            folded.merge(at, (long) value, (a, b) -> a ^ b);
        }

        private void clearFolds(At at) {
            sumState.clear();
            sums.remove(at);
            foldedState.clear();
            folded.remove(at);
        }

        @SuppressWarnings("unchecked")
        private void merge(At at) throws Exception {
            List<TimeWindow> sources = new ArrayList<>();
            for (int number = 0; number < WINDOWS; number++) {
                if (!window(number).equals(at.window)) {
                    sources.add(window(number));
                    mergeInto(at, new At(at.key, window(number)));
                }
            }
            ((InternalMergingState<String, TimeWindow, ?, ?, ?>) sumState)
                    .mergeNamespaces(at.window, sources);
            ((InternalMergingState<String, TimeWindow, ?, ?, ?>) foldedState)
                    .mergeNamespaces(at.window, sources);
            at(at);
        }

        private void mergeInto(At target, At source) {
            Integer sum = sums.remove(source);
            if (sum != null) {
                sums.merge(target, sum, Integer::sum);
            }
            Long fold = folded.remove(source);
            if (fold != null) {
                folded.merge(target, fold, (a, b) -> a ^ b);
            }
        }

        /** Goes on changing a list after the state has got it, and what the state gave out. */
        private void mutate(At at) throws Exception {
            List<Long> read = mutableState.value();
            assertThat(read).isEqualTo(mutable.get(at));
            List<Long> list = read == null ? new ArrayList<>() : new ArrayList<>(read);
            list.add(random.nextLong());
            mutableState.update(list);
            mutable.put(at, List.copyOf(list));
            list.add(-1L);
            if (read != null) {
                read.add(-2L);
            }
        }

        private void check(At at) throws Exception {
            assertThat(countState.value()).isEqualTo(counts.get(at));
            assertThat(textState.value()).isEqualTo(texts.get(at));
            assertThat(sumState.get()).isEqualTo(sums.get(at));
            assertThat(foldedState.get()).isEqualTo(folded.get(at));
            assertThat(mutableState.value()).isEqualTo(mutable.get(at));
        }

        void checkAll() throws Exception {
            for (int key = 0; key < KEYS; key++) {
                for (int window = 0; window < WINDOWS; window++) {
                    At at = new At("key" + key, window(window));
                    at(at);
                    check(at);
                }
            }
        }

        /** As another thread would get it; that is kept apart from the owner by the gate. */
        @SuppressWarnings("unchecked")
        private void query(At at) throws Exception {
            byte[] address =
                    KvStateSerializer.serializeKeyAndNamespace(
                            at.key,
                            StringSerializer.INSTANCE,
                            at.window,
                            new TimeWindow.Serializer());
            byte[] value =
                    ((InternalKvState<String, TimeWindow, Long>) countState)
                            .getSerializedValue(
                                    address,
                                    StringSerializer.INSTANCE,
                                    new TimeWindow.Serializer(),
                                    LongSerializer.INSTANCE);
            Long read =
                    value == null
                            ? null
                            : KvStateSerializer.deserializeValue(value, LongSerializer.INSTANCE);
            assertThat(read).isEqualTo(counts.get(at));
        }

        private void keys() {
            TimeWindow window = window(random.nextInt(WINDOWS));
            assertThat(backend.getKeys("counts", window).toList())
                    .containsExactlyInAnyOrderElementsOf(keysOf(counts, window));
            assertThat(backend.getKeys("sums", window).toList())
                    .containsExactlyInAnyOrderElementsOf(keysOf(sums, window));
            assertThat(backend.numKeyValueStateEntries())
                    .isEqualTo(
                            counts.size()
                                    + texts.size()
                                    + sums.size()
                                    + folded.size()
                                    + mutable.size());
        }

        private static List<String> keysOf(Map<At, ?> entries, TimeWindow window) {
            return entries.keySet().stream()
                    .filter(at -> at.window.equals(window))
                    .map(At::key)
                    .collect(Collectors.toList());
        }
    }

    private static final class Xor implements AggregateFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1L;

        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Long value, Long accumulator) {
            return value ^ accumulator;
        }

        @Override
        public Long getResult(Long accumulator) {
            return accumulator;
        }

        @Override
        public Long merge(Long a, Long b) {
            return a ^ b;
        }
    }

    /** Claims that lists do not change. */
    private static final class SharedLists extends TypeSerializerSingleton<List<Long>> {
        private static final long serialVersionUID = 1L;
        private static final ListSerializer<Long> LISTS =
                new ListSerializer<>(LongSerializer.INSTANCE);

        @Override
        public boolean isImmutableType() {
            return true;
        }

        @Override
        public List<Long> createInstance() {
            return LISTS.createInstance();
        }

        @Override
        public List<Long> copy(List<Long> from) {
            return from;
        }

        @Override
        public List<Long> copy(List<Long> from, List<Long> reuse) {
            return from;
        }

        @Override
        public int getLength() {
            return -1;
        }

        @Override
        public void serialize(List<Long> list, DataOutputView target) throws IOException {
            LISTS.serialize(list, target);
        }

        @Override
        public List<Long> deserialize(DataInputView source) throws IOException {
            return LISTS.deserialize(source);
        }

        @Override
        public List<Long> deserialize(List<Long> reuse, DataInputView source) throws IOException {
            return LISTS.deserialize(source);
        }

        @Override
        public void copy(DataInputView source, DataOutputView target) throws IOException {
            LISTS.copy(source, target);
        }

        @Override
        public TypeSerializerSnapshot<List<Long>> snapshotConfiguration() {
            return new SharedListsSnapshot();
        }
    }

    /** Of {@link SharedLists}. */
    public static final class SharedListsSnapshot extends SimpleTypeSerializerSnapshot<List<Long>> {
        public SharedListsSnapshot() {
            super(SharedLists::new);
        }
    }

    /** Keeps what is registered, to be read by the test. */
    private static final class Gauges extends UnregisteredMetricsGroup {
        private final Map<String, Gauge<?>> gauges = new HashMap<>();

        @Override
        public MetricGroup addGroup(String name) {
            return this;
        }

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            gauges.put(name, gauge);
            return gauge;
        }

        long read(String name) {
            return (Long) gauges.get(name).getValue();
        }
    }
}
