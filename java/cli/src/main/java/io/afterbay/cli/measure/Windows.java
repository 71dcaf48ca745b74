package io.afterbay.cli.measure;

import java.util.Arrays;

/** One number for each window of time, from the first on. */
public final class Windows {
    private static final long NONE = -1;

    private long[] values = new long[0];
    private int size;

    private void reach(int window) {
        if (window >= values.length) {
            int before = values.length;
            values = Arrays.copyOf(values, Math.max(window + 1, 2 * before));
            Arrays.fill(values, before, values.length, NONE);
        }
        size = Math.max(size, window + 1);
    }

    void add(int window, long amount) {
        reach(window);
        values[window] = get(window) + amount;
    }

    /** Keeps the larger one. */
    void raise(int window, long value) {
        reach(window);
        values[window] = Math.max(values[window], value);
    }

    int size() {
        return size;
    }

    boolean has(int window) {
        return window < size && values[window] != NONE;
    }

    /** 0 where there is none. */
    long get(int window) {
        return has(window) ? values[window] : 0;
    }
}
