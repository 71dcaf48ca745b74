package io.afterbay.command;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Durations as users write them: {@code 500ms}, {@code 10s}, {@code 2min}, {@code 7d}, or {@code
 * off}.
 */
public final class Durations implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})\\s*(ms|s|m|min|h|d)");
    private static final Map<String, Long> MILLIS =
            Map.ofEntries(
                    Map.entry("ms", 1L),
                    Map.entry("s", 1_000L),
                    Map.entry("m", 60_000L),
                    Map.entry("min", 60_000L),
                    Map.entry("h", 3_600_000L),
                    Map.entry("d", 86_400_000L));

    @Override
    public Duration convert(String text) {
        if (text.equals("off")) {
            return Duration.ZERO;
        }
        Matcher matcher = FORM.matcher(text.strip());
        if (!matcher.matches()) {
            throw new TypeConversionException(
                    "'"
                            + text
                            + "' is not a duration; use ms, s, min, h or d, for example 10s, or off");
        }
        long unit = MILLIS.getOrDefault(matcher.group(2), 1L);
        return Duration.ofMillis(Long.parseLong(matcher.group(1)) * unit);
    }
}
