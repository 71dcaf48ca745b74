package io.afterbay.doctor.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Figures as words, the same in all languages of the machine. */
final class Words {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT)
                    .withZone(ZoneOffset.UTC);

    private Words() {}

    static String format(String text, Object... values) {
        return String.format(Locale.ROOT, text, values);
    }

    /** As in {@code 340 ms}, {@code 8.0 s} or {@code 3.5 days}. */
    static String micros(long micros) {
        return millis(micros / 1000.0);
    }

    /** A dash for what is not known. */
    static String millis(@Nullable Double ms) {
        return ms == null ? "-" : millis(ms.doubleValue());
    }

    static String millis(double ms) {
        if (ms < 10) {
            return format("%.1f ms", ms);
        }
        if (ms < 1000) {
            return format("%.0f ms", ms);
        }
        return seconds(ms / 1000);
    }

    /** The next unit from twice of it on. */
    private static String seconds(double seconds) {
        if (seconds < 120) {
            return format("%.1f s", seconds);
        }
        double hours = seconds / 3600;
        if (hours < 2) {
            return format("%.1f min", seconds / 60);
        }
        return hours < 48 ? format("%.1f h", hours) : format("%.1f days", hours / 24);
    }

    /** UTC, as the logs' events have it. */
    static String time(long micros) {
        return TIME.format(Instant.ofEpochMilli(Math.floorDiv(micros, 1000)));
    }

    static String percent(double part) {
        return format("%.0f %%", 100 * part);
    }

    static String score(double score) {
        return format("%.2f", score);
    }

    /** As in {@code 1 instance} or {@code 2 instances}. */
    static String count(long number, String noun) {
        return format("%,d %s%s", number, noun, number == 1 ? "" : "s");
    }

    /** With a capital letter and a full stop. */
    static String sentence(String words) {
        return words.isEmpty()
                ? ""
                : words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1) + ".";
    }

    /** As in {@code 4th}. */
    static String ordinal(int number) {
        boolean isTeen = number % 100 >= 11 && number % 100 <= 13;
        String ending =
                isTeen
                        ? "th"
                        : switch (number % 10) {
                            case 1 -> "st";
                            case 2 -> "nd";
                            case 3 -> "rd";
                            default -> "th";
                        };
        return number + ending;
    }
}
