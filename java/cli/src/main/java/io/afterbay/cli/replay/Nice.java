package io.afterbay.cli.replay;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * What {@code --nice} says: how much the process of a replay leaves to others, as {@code nice -n}.
 */
final class Nice implements ITypeConverter<Integer> {
    /** As others for the CPU, and for disks. */
    static final int LIKE_OTHERS = 0;

    static final String DEFAULT = "10";

    private static final int MAX = 19;

    /** Of replays that earlier versions have begun. */
    static int usual() {
        return Integer.parseInt(DEFAULT);
    }

    @Override
    public Integer convert(String text) {
        try {
            int nice = Integer.parseInt(text);
            if (nice >= LIKE_OTHERS && nice <= MAX) {
                return nice;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new TypeConversionException(
                "'%s' is no niceness; use %d (like other processes) to %d (least of all)"
                        .formatted(text, LIKE_OTHERS, MAX));
    }
}
