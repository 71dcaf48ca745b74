package io.afterbay.cli.replay;

import io.afterbay.command.Durations;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A moment as users write it: {@code 2026-11-28T09:00:00Z}, with an offset in place of Z, {@code
 * now}, {@code -15min} before now, or {@code @600}, seconds since 1970.
 */
final class Moment implements ITypeConverter<Instant> {
    static final String FORMS =
            "2026-11-28T09:00:00Z, 2026-11-28T10:00:00+01:00, now, -15min (before now), or @600"
                    + " (seconds since 1970)";

    private static final Pattern SECONDS = Pattern.compile("@(\\d{1,12})(?:\\.(\\d{1,3}))?");

    /** The same for all that one command line says. */
    private static final Instant NOW = Instant.now().truncatedTo(ChronoUnit.MILLIS);

    @Override
    public Instant convert(String text) {
        if (text.equals("now")) {
            return NOW;
        }
        if (text.startsWith("-")) {
            return NOW.minus(new Durations().convert(text.substring(1)));
        }
        Matcher seconds = SECONDS.matcher(text);
        if (seconds.matches()) {
            return sinceEpoch(seconds);
        }
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw new TypeConversionException(
                    "'%s' is no moment; write it as in %s".formatted(text, FORMS));
        }
    }

    private static Instant sinceEpoch(Matcher seconds) {
        String fraction = seconds.group(2);
        long millis =
                fraction == null
                        ? 0
                        : Long.parseLong((fraction + "00").substring(0, "123".length()));
        return Instant.ofEpochMilli(Long.parseLong(seconds.group(1)) * 1000 + millis);
    }
}
