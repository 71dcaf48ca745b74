package io.afterbay.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Figures for people: as many decimals as say something, the same in every locale. */
final class Numbers {
    private Numbers() {}

    /** A dash where there is none. */
    static String format(@Nullable Double value) {
        return value == null
                ? "-"
                : String.format(Locale.ROOT, "%,." + decimals(value) + "f", value);
    }

    private static int decimals(double value) {
        double size = Math.abs(value);
        if (size >= 100) {
            return 0;
        }
        return size >= 10 ? 1 : 2;
    }
}
