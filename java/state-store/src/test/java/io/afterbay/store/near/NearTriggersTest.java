package io.afterbay.store.near;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random operations on the near triggers and on a plain sorted set, side by side. */
class NearTriggersTest {
    private static final int STEPS = 20_000;
    private static final int BYTES = 20_000;
    private static final int KEY_GROUPS = 5;

    /** In the order of firing; the place stands for key group and hash. */
    private record At(long timestamp, long place, int number) {
        static final Comparator<At> FIRING =
                Comparator.comparingLong(At::timestamp).thenComparingLong(At::place);
        static final Comparator<At> IN_TREE =
                Comparator.<At>comparingLong(at -> at.place >>> 48).thenComparing(FIRING);
    }

    private final long address = Memory.allocate(BYTES);
    private final NearTriggers near = new NearTriggers(address, BYTES, 17);
    private final TreeSet<At> waiting = new TreeSet<>(At.FIRING);
    private final TreeSet<At> copies = new TreeSet<>(At.FIRING);
    private final StateKey key = new StateKey();

    @AfterEach
    void free() {
        Memory.free(address, BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 400, 1_000_000})
    void agreesWithASortedSet(int numbers) {
        Random random = new Random(numbers);
        Map<Integer, Integer> steps = new HashMap<>();
        for (int i = 0; i < STEPS; i++) {
            At at = trigger(random.nextInt(numbers));
            int kind = random.nextInt(1000);
            steps.merge(kind < 998 ? kind / 250 : kind, 1, Integer::sum);
            switch (kind) {
                case 998 -> dropCopies();
                case 999 -> moveAway(random);
                default -> {
                    if (kind < 500) {
                        addOrFind(at, kind < 100);
                    } else if (kind < 750) {
                        remove(at);
                    } else {
                        poll();
                    }
                }
            }
            checkHead();
        }
        assertThat(steps).hasSize(6).allSatisfy((kind, times) -> assertThat(times).isPositive());
    }

    private At trigger(int number) {
        long timestamp =
                switch (number % 7) {
                    case 0 -> Long.MIN_VALUE;
                    case 1 -> Long.MAX_VALUE;
                    case 2 -> -number;
                    default -> number / 100;
                };
        byte[] bytes = ByteBuffer.allocate(17).putInt(13, number).array();
        key.setKey(number % KEY_GROUPS, bytes, 0, 8);
        key.setNamespace(bytes, 8, 9);
        return new At(timestamp, (long) key.keyGroup() << 48 | key.hash() >>> 16, number);
    }

    private void addOrFind(At at, boolean copy) {
        int slot = near.find(at.timestamp(), key);
        assertThat(slot != NearTriggers.ABSENT).isEqualTo(isKnown(at));
        if (slot != NearTriggers.ABSENT) {
            assertThat(near.isCopy(slot)).isEqualTo(copies.contains(at));
        } else if (near.isFull()) {
            assertThat(waiting.size() + copies.size()).isEqualTo(near.capacity());
        } else if (copy) {
            near.addCopy(at.timestamp(), key);
            copies.add(at);
        } else {
            near.addWaiting(at.timestamp(), key);
            waiting.add(at);
        }
    }

    private boolean isKnown(At at) {
        return waiting.contains(at) || copies.contains(at);
    }

    private void remove(At at) {
        int slot = near.find(at.timestamp(), key);
        assertThat(slot != NearTriggers.ABSENT).isEqualTo(isKnown(at));
        if (slot != NearTriggers.ABSENT) {
            near.remove(slot);
            waiting.remove(at);
            copies.remove(at);
        }
    }

    private void poll() {
        At first = waiting.pollFirst();
        if (first != null) {
            near.remove(near.first());
        }
    }

    private void dropCopies() {
        near.dropCopies();
        copies.clear();
    }

    private void moveAway(Random random) {
        int kept = random.nextInt(near.capacity());
        At[] expected = waiting.stream().skip(kept).toArray(At[]::new);
        Arrays.sort(expected, At.IN_TREE);
        int[] slots = near.takeLatest(kept);
        assertThat(Arrays.stream(slots).mapToObj(this::read)).containsExactly(expected);
        for (int slot : slots) {
            At at = read(slot);
            switch (random.nextInt(3)) {
                case 0 -> near.waitOn(slot);
                case 1 -> {
                    near.written(slot);
                    copies.add(at);
                    waiting.remove(at);
                }
                default -> {
                    near.writtenAway(slot);
                    waiting.remove(at);
                }
            }
        }
    }

    private At read(int slot) {
        StateKey there = new StateKey();
        near.readKey(slot, there);
        assertThat(there.keyLength()).isEqualTo(8);
        int number = ByteBuffer.wrap(there.bytes()).getInt(13);
        At expected = trigger(number);
        assertThat(near.timestamp(slot)).isEqualTo(expected.timestamp());
        assertThat(near.keyGroup(slot)).isEqualTo(there.keyGroup()).isEqualTo(key.keyGroup());
        return expected;
    }

    private void checkHead() {
        assertThat(near.waiting()).isEqualTo(waiting.size());
        if (!waiting.isEmpty()) {
            assertThat(read(near.first())).isEqualTo(waiting.first());
        }
    }
}
