package io.afterbay.flink.correctness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.util.InstantiationUtil;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ListState.get()} is a {@code List} of any length, as with Flink's own backends. */
class LazyListTest {
    /** Takes more than the 64 KiB up to which a list is read at once. */
    private static final int LONG = 10_000;

    private final Backends backends = new Backends();
    private AbstractKeyedStateBackend<String> keyed;
    private ListState<Long> state;

    @BeforeEach
    void open() throws Exception {
        keyed = backends.ours();
        state =
                keyed.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ListStateDescriptor<>("list", Long.class));
        keyed.setCurrentKey("a");
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private List<Long> list(int size) throws Exception {
        state.update(numbers(size));
        return (List<Long>) state.get();
    }

    private static List<Long> numbers(int size) {
        List<Long> numbers = new ArrayList<>();
        for (long i = 0; i < size; i++) {
            numbers.add(i * 7919 % size);
        }
        return numbers;
    }

    @ParameterizedTest
    @ValueSource(ints = {10, LONG})
    void isAList(int size) throws Exception {
        List<Long> list = list(size);
        assertThat(list).isEqualTo(numbers(size)).hasSameHashCodeAs(numbers(size));
        assertThat(list.get(size - 1)).isEqualTo(numbers(size).get(size - 1));
        assertThat(list.subList(3, 7)).isEqualTo(numbers(size).subList(3, 7));
        assertThatThrownBy(() -> list.get(size)).isInstanceOf(IndexOutOfBoundsException.class);
        list.sort(Comparator.naturalOrder());
        assertThat(list).isSorted().hasSize(size);
        assertThat(state.get()).containsExactlyElementsOf(numbers(size));
    }

    @Test
    void readingInOrderCopiesNothing() throws Exception {
        List<Long> list = list(LONG);
        List<Long> expected = numbers(LONG);
        for (int i = 0; i < LONG; i++) {
            assertThat(list.get(i)).isEqualTo(expected.get(i));
        }
        assertThat(list).hasSize(LONG).containsExactlyElementsOf(expected);
        state.clear();
        keyed.setCurrentKey("b");
        assertThatThrownBy(list::iterator).isInstanceOf(IllegalStateException.class);
    }

    /** As the runner of PyFlink sets a key at every request, and goes on with an iterator. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void belongsToTheKeyUnderWhichItWasRead(String next) throws Exception {
        List<Long> list = list(LONG);
        List<Long> expected = numbers(LONG);
        Iterator<Long> iterator = list.iterator();
        for (int i = 0; i < LONG; i++) {
            if (i % 1000 == 1) {
                keyed.setCurrentKey(next);
                state.add(-1L);
            }
            assertThat(iterator.next()).isEqualTo(expected.get(i));
        }
        assertThat(iterator).isExhausted();
        assertThat(list).isEqualTo(expected);
    }

    @Test
    void listsOfSeveralKeysAreReadSideBySide() throws Exception {
        List<Long> expectedOfA = numbers(LONG);
        List<Long> expectedOfB = numbers(LONG + 1);
        Iterator<Long> ofA = list(LONG).iterator();
        keyed.setCurrentKey("b");
        state.addAll(expectedOfB);
        Iterator<Long> ofB = state.get().iterator();
        for (int i = 0; i < LONG; i++) {
            if (i % 1000 == 0) {
                keyed.setCurrentKey("ab".substring(i / 1000 % 2, i / 1000 % 2 + 1));
            }
            assertThat(ofA.next()).isEqualTo(expectedOfA.get(i));
            assertThat(ofB.next()).isEqualTo(expectedOfB.get(i));
        }
        assertThat(ofA).isExhausted();
        assertThat(ofB).hasNext();
    }

    /** The state that a reader showed is gone with the key; a copy of it might exceed memory. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void endsWithItsKeyOnceListsWereCleared(boolean isFilledAgain) throws Exception {
        List<Long> list = list(LONG);
        Iterator<Long> iterator = list.iterator();
        iterator.next();
        state.clear();
        if (isFilledAgain) {
            state.addAll(Collections.nCopies(LONG + 1, -1L));
        }
        assertThat(list).isEqualTo(numbers(LONG));
        assertThat(iterator.next()).isEqualTo(numbers(LONG).get(1));
        keyed.setCurrentKey("b");
        assertThat(list).hasSize(LONG);
        for (ThrowingCallable use :
                List.<ThrowingCallable>of(list::iterator, iterator::next, () -> list.get(7))) {
            assertThatThrownBy(use)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("list of state 'list' was read under another key")
                    .hasMessageContaining("copy what is needed");
        }
    }

    @Test
    void aCopyIsOfNoKey() throws Exception {
        List<Long> list = list(LONG);
        Iterator<Long> half = list.iterator();
        half.next();
        assertThat(list.get(LONG / 2)).isEqualTo(numbers(LONG).get(LONG / 2));
        keyed.setCurrentKey("b");
        assertThat(list).isEqualTo(numbers(LONG));
        assertThat(half.next()).isEqualTo(numbers(LONG).get(1));
        half.remove();
        assertThat(list).hasSize(LONG - 1);
    }

    /** A window function that emits the {@code Iterable} it was given. */
    @Test
    @SuppressWarnings("unchecked") // of Iterable
    void isAnArrayListAfterKryo() throws Exception {
        TypeSerializer<Iterable<Long>> kryo =
                (TypeSerializer<Iterable<Long>>)
                        (TypeSerializer<?>)
                                new GenericTypeInfo<>(Iterable.class)
                                        .createSerializer(new SerializerConfigImpl());
        List<Long> list = list(LONG);
        assertThat(kryo.copy(list)).isInstanceOf(ArrayList.class).isEqualTo(numbers(LONG));
        assertThat(throughBytes(list, kryo)).isInstanceOf(ArrayList.class).isEqualTo(numbers(LONG));
    }

    @Test
    void isAnArrayListAfterFlinkAndJava() throws Exception {
        List<Long> list = list(LONG);
        TypeSerializer<List<Long>> lists = new ListSerializer<>(LongSerializer.INSTANCE);
        assertThat(lists.copy(list)).isInstanceOf(ArrayList.class).isEqualTo(numbers(LONG));
        assertThat(throughBytes(list, lists)).isEqualTo(numbers(LONG));
        Object byJava =
                InstantiationUtil.deserializeObject(
                        InstantiationUtil.serializeObject(list), getClass().getClassLoader());
        assertThat(byJava).isInstanceOf(ArrayList.class).isEqualTo(numbers(LONG));
    }

    private static <T> T throughBytes(T value, TypeSerializer<T> serializer) throws Exception {
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(value, out);
        return serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    }

    @Test
    void updatesTheStateThatItIsOf() throws Exception {
        List<Long> list = list(LONG);
        list.iterator().next();
        state.update(list);
        state.addAll(Collections.singletonList(-1L));
        assertThat(state.get()).hasSize(LONG + 1).startsWith(0L, 7919L).endsWith(-1L);
    }

    /** Random calls give what they give with an {@code ArrayList}. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void doesWhatAnArrayListDoes(long seed) throws Exception {
        Random random = new Random(seed);
        List<Long> list = list(LONG);
        List<Long> expected = numbers(LONG);
        boolean changes = false;
        for (int i = 0; i < 30; i++) {
            int at = random.nextInt(expected.size());
            // Most of the lists are changed late, so that passes come before and after a copy.
            switch (random.nextInt(changes ? 10 : 6)) {
                case 0 -> assertThat(list).isEqualTo(expected);
                case 1 -> assertThat(list).hasSize(expected.size()).isNotEmpty();
                case 2 -> removeEvery(2 + random.nextInt(50), list, expected);
                case 3 -> ascend(at % 20, list, expected);
                case 4 -> changes = random.nextInt(10) == 0;
                case 5 -> keyed.setCurrentKey(random.nextBoolean() ? "a" : "b");
                case 6 -> assertThat(list.get(at)).isEqualTo(expected.get(at));
                case 7 -> assertThat(list.set(at, -1L)).isEqualTo(expected.set(at, -1L));
                case 8 -> assertThat(list.remove(at)).isEqualTo(expected.remove(at));
                default -> {
                    list.add(at, -2L);
                    expected.add(at, -2L);
                }
            }
        }
        assertThat(list).isEqualTo(expected);
        list.clear();
        assertThat(list).isEmpty();
        keyed.setCurrentKey("a");
        assertThat(state.get()).containsExactlyElementsOf(numbers(LONG));
    }

    /** Of the first thousand elements, through an iterator, and copies half-way now and then. */
    private void removeEvery(int nth, List<Long> list, List<Long> expected) {
        Iterator<Long> ours = list.iterator();
        Iterator<Long> theirs = expected.iterator();
        for (int i = 0; i < 1000 && theirs.hasNext(); i++) {
            assertThat(ours.next()).isEqualTo(theirs.next());
            if (nth == 7 && i == 500) {
                assertThat(list.get(i)).isEqualTo(expected.get(i));
            }
            if (i % nth == 1) {
                keyed.setCurrentKey(i % 2 == 0 ? "a" : "b");
            }
            if (i % nth == 0) {
                ours.remove();
                theirs.remove();
            }
        }
        assertThat(ours.hasNext()).isEqualTo(theirs.hasNext());
    }

    private static void ascend(int to, List<Long> list, List<Long> expected) {
        for (int i = 0; i < to; i++) {
            assertThat(list.get(i)).isEqualTo(expected.get(i));
        }
    }
}
