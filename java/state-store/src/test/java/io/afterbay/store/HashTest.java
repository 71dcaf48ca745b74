package io.afterbay.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HashTest {
    private static final int LENGTH_MAX = 70;

    @Test
    void everyBitOfEveryLengthCounts() {
        byte[] bytes = new byte[LENGTH_MAX];
        new Random(1).nextBytes(bytes);
        for (int length = 0; length <= LENGTH_MAX; length++) {
            Set<Long> hashes = new HashSet<>();
            hashes.add(Hash.of(bytes, 0, length, 0));
            for (int bit = 0; bit < length * 8; bit++) {
                byte[] changed = bytes.clone();
                changed[bit / 8] ^= (byte) (1 << bit % 8);
                hashes.add(Hash.of(changed, 0, length, 0));
            }
            assertThat(hashes).as("length %d", length).hasSize(length * 8 + 1);
        }
    }

    @Test
    void lengthSeedAndOrderCountAndWhatLiesAroundDoesNot() {
        Set<Long> ofZeros = new HashSet<>();
        for (int length = 0; length <= LENGTH_MAX; length++) {
            ofZeros.add(Hash.of(new byte[length], 0, length, 0));
            ofZeros.add(Hash.of(new byte[length], 0, length, 1));
        }
        assertThat(ofZeros).hasSize(2 * (LENGTH_MAX + 1));
        byte[] padded = new byte[30];
        Arrays.fill(padded, (byte) 7);
        Arrays.fill(padded, 5, 25, (byte) 3);
        byte[] exact = Arrays.copyOfRange(padded, 5, 25);
        assertThat(Hash.of(padded, 5, 20, 9)).isEqualTo(Hash.of(exact, 0, 20, 9));
    }

    /** Keys as they are: a number, alone or with a window behind it. */
    @ParameterizedTest
    @ValueSource(ints = {8, 24})
    void numbersFillTheSlotsOfATableEvenly(int length) {
        int slots = 1 << 12;
        int[] used = new int[slots];
        byte[] bytes = new byte[length];
        for (int number = 0; number < 16 * slots; number++) {
            bytes[5] = (byte) (number >>> 16);
            bytes[6] = (byte) (number >>> 8);
            bytes[7] = (byte) number;
            used[(int) Hash.of(bytes, 0, length, 8) & slots - 1]++;
        }
        assertThat(Arrays.stream(used).max().orElseThrow()).isLessThan(16 * 4);
        assertThat(Arrays.stream(used).filter(one -> one == 0).count()).isLessThan(4);
    }
}
