package io.afterbay.command;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** An amount of bytes; units are powers of 1024. */
public record ByteSize(long bytes) {
    private static final Pattern FORM =
            Pattern.compile("(\\d{1,12})\\s*([kmgt]?)(?:i?b)?", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Integer> SHIFTS =
            Map.of("", 0, "k", 10, "m", 20, "g", 30, "t", 40);
    private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB"};

    public static ByteSize parse(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new TypeConversionException(
                    "'" + text + "' is not a size; use a number with k, m or g, for example 2g");
        }
        int shift = SHIFTS.getOrDefault(matcher.group(2).toLowerCase(Locale.ROOT), 0);
        long number = Long.parseLong(matcher.group(1));
        if (number > Long.MAX_VALUE >> shift) {
            throw new TypeConversionException("'" + text + "' is too large");
        }
        return new ByteSize(number << shift);
    }

    public static ByteSize ofMiB(long mebibytes) {
        return new ByteSize(mebibytes << 20);
    }

    public long mebibytes() {
        return bytes >> 20;
    }

    /** For people, with one decimal. */
    @Override
    public String toString() {
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0
                ? bytes + " bytes"
                : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
    }

    /** For picocli. */
    public static final class Converter implements ITypeConverter<ByteSize> {
        @Override
        public ByteSize convert(String text) {
            return parse(text);
        }
    }
}
