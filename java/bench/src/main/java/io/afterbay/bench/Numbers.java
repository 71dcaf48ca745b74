package io.afterbay.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Figures for people: as many decimals as say something, the same in every locale. */
public final class Numbers {
    private Numbers() {}

    /** A dash where there is none. */
    public static String format(@Nullable Double value) {
        return value == null
                ? "-"
                : String.format(Locale.ROOT, "%,." + decimals(value) + "f", value);
    }

    private static int decimals(double value) {
        double size = Math.abs(value);
        if (size >= 100 || size == 0) {
            return 0;
        }
        return size >= 10 ? 1 : 2;
    }

    /** Milliseconds with the unit that fits: {@code 40 ms}, {@code 4.2 s}. */
    public static String duration(double ms) {
        return ms < 1000 ? significant(ms) + " ms" : significant(ms / 1000) + " s";
    }

    /** {@code 256 MiB}, {@code 4 GiB}. */
    public static String mebibytes(long mebibytes) {
        return mebibytes % 1024 == 0 ? mebibytes / 1024 + " GiB" : mebibytes + " MiB";
    }

    private static String significant(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.1f" : "%,.0f", value);
    }
}
