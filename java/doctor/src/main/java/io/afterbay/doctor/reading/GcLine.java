package io.afterbay.doctor.reading;

import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A line of the JVM's unified logging (JEP 158): decorations in brackets, then the message.
 *
 * @param micros when it was written: since 1970, or since the start of the JVM
 * @param isUptime whether it is the latter
 * @param pause the kind of pause that ended; null for all other lines
 * @param lengthMicros of the pause
 */
record GcLine(long micros, boolean isUptime, @Nullable String pause, long lengthMicros) {
    /** As {@code 2026-11-23T03:53:31.399+0000}, of {@code time} and {@code utctime}. */
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS[XX][XXX]");

    private static final Pattern DECORATION = Pattern.compile("\\G\\[([^\\]]*)]");
    private static final Pattern CLOCK = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT.*");

    /** Of {@code uptime}, {@code uptimemillis} and {@code timemillis}. */
    private static final Pattern SECONDS = Pattern.compile("(\\d{1,12})[.,](\\d{3})s");

    private static final Pattern MILLIS = Pattern.compile("(\\d{1,15})ms");

    /** Collectors say their sizes between the kind and the length; ZGC and Shenandoah may not. */
    private static final Pattern PAUSE =
            Pattern.compile(
                    "GC\\(\\d+\\) (?:[yYoO]: )?(Pause .*?)(?: \\d+[KMG].*?)? (\\d{1,9})[.,](\\d{1,3})ms\\s*");

    /** No JVM runs for thirty years, and no clock is in the year 2000. */
    private static final long MAX_UPTIME_MILLIS = 1_000_000_000_000L;

    /** Null if it has no time that is known. */
    static @Nullable GcLine parse(String line) {
        long micros = -1;
        boolean isUptime = true;
        int message = 0;
        Matcher decorations = DECORATION.matcher(line);
        while (decorations.find()) {
            message = decorations.end();
            String text = decorations.group(1).strip();
            long wall = wall(text);
            if (wall >= 0) {
                micros = wall;
                isUptime = false;
            } else if (micros < 0) {
                micros = uptime(text);
            }
        }
        return micros < 0 ? null : of(micros, isUptime, line.substring(message));
    }

    /** The same time, but no pause. */
    GcLine withoutPause() {
        return new GcLine(micros, isUptime, null, 0);
    }

    private static GcLine of(long micros, boolean isUptime, String message) {
        Matcher pause = PAUSE.matcher(message.strip());
        if (!message.contains("Pause") || !pause.matches()) {
            return new GcLine(micros, isUptime, null, 0);
        }
        long length = 1000 * Long.parseLong(pause.group(2)) + thousandths(pause.group(3));
        return new GcLine(micros, isUptime, pause.group(1), length);
    }

    private static long thousandths(String digits) {
        return Long.parseLong((digits + "00").substring(0, 3));
    }

    /** Since 1970; -1 if it is something else. */
    private static long wall(String text) {
        if (CLOCK.matcher(text).matches()) {
            try {
                return 1000
                        * OffsetDateTime.parse(text.replace(',', '.'), TIME)
                                .toInstant()
                                .toEpochMilli();
            } catch (DateTimeException e) {
                return -1;
            }
        }
        long millis = millis(text);
        return millis >= MAX_UPTIME_MILLIS ? 1000 * millis : -1;
    }

    /** Since the JVM began; -1 if it is something else. */
    private static long uptime(String text) {
        Matcher seconds = SECONDS.matcher(text);
        if (seconds.matches()) {
            return 1_000_000 * Long.parseLong(seconds.group(1))
                    + 1000 * Long.parseLong(seconds.group(2));
        }
        long millis = millis(text);
        return millis < 0 || millis >= MAX_UPTIME_MILLIS ? -1 : 1000 * millis;
    }

    private static long millis(String text) {
        Matcher matcher = MILLIS.matcher(text);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }
}
