package io.afterbay.edge.link;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Rates of links as users, and {@code tc}, write them: {@code 800kbit}, {@code 8mbit}. */
public final class BitRate implements ITypeConverter<Long> {
    private static final Pattern FORM =
            Pattern.compile("(\\d{1,9}(?:\\.\\d{1,3})?)\\s*([kmg]?)bit", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Integer> DIGITS = Map.of("", 0, "k", 3, "m", 6, "g", 9);

    /** Bits per second. */
    @Override
    public Long convert(String text) {
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw wrong(text);
        }
        int digits = DIGITS.getOrDefault(matcher.group(2).toLowerCase(Locale.ROOT), 0);
        long rate = new BigDecimal(matcher.group(1)).movePointRight(digits).longValue();
        if (rate == 0) {
            throw wrong(text);
        }
        return rate;
    }

    private static TypeConversionException wrong(String text) {
        return new TypeConversionException(
                "'%s' is not a rate of a link; use bit, kbit, mbit or gbit per second, for example 800kbit"
                        .formatted(text));
    }
}
