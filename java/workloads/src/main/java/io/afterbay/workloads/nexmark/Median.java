package io.afterbay.workloads.nexmark;

import java.util.Arrays;

/** The lower median of numbers. */
final class Median {
    private long[] numbers = new long[16];
    private int size;

    void add(long number) {
        if (size == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * size);
        }
        numbers[size++] = number;
    }

    /** There must be a number. */
    long get() {
        Arrays.sort(numbers, 0, size);
        return numbers[(size - 1) / 2];
    }
}
