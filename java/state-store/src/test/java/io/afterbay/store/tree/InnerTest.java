package io.afterbay.store.tree;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.page.Memory;
import java.util.Arrays;
import java.util.Random;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The child that is found is that of a linear search, however keys are spread. */
class InnerTest {
    private final long page = Memory.allocate(Inner.PAGE_BYTES);
    private final Random random = new Random(11);

    @AfterEach
    void free() {
        Memory.free(page, Inner.PAGE_BYTES);
    }

    @Test
    void ofHashes() {
        verify(() -> random.nextLong() >>> 1);
    }

    @Test
    void ofEqualHighParts() {
        verify(() -> random.nextInt(3));
    }

    @Test
    void ofKeysThatCrowdAtOneEnd() {
        verify(() -> 1L << random.nextInt(63));
    }

    private void verify(LongSupplier highs) {
        for (int count = 1; count <= Inner.MAX_CHILDREN; count += 1 + count / 4) {
            long[][] keys = fill(count, highs);
            for (int i = 0; i < 200; i++) {
                long[] key = {highs.getAsLong(), random.nextInt(5)};
                int expected = linear(keys, key);
                assertThat(Inner.indexOf(page, key[0], key[1], true)).isEqualTo(expected);
                assertThat(Inner.indexOf(page, key[0], key[1], false)).isEqualTo(expected);
            }
            for (long[] key : keys) {
                int expected = linear(keys, key);
                assertThat(Inner.indexOf(page, key[0], key[1], true)).isEqualTo(expected);
            }
        }
    }

    private long[][] fill(int count, LongSupplier highs) {
        long[][] keys = new long[count][];
        Arrays.setAll(keys, i -> new long[] {highs.getAsLong(), random.nextInt(5)});
        Arrays.sort(keys, (a, b) -> EntryKey.compare(a[0], a[1], b[0], b[1]));
        Inner.init(page);
        for (int i = 0; i < count; i++) {
            Inner.insert(page, i, keys[i][0], keys[i][1], i);
        }
        return keys;
    }

    /** The first key counts as the least there is. */
    private static int linear(long[][] keys, long[] key) {
        int index = 0;
        for (int i = 1; i < keys.length; i++) {
            if (EntryKey.compare(keys[i][0], keys[i][1], key[0], key[1]) <= 0) {
                index = i;
            }
        }
        return index;
    }
}
