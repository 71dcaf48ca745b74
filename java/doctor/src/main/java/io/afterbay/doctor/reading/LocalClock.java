package io.afterbay.doctor.reading;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/**
 * The local times in front of lines. The zone of the machine is not logged: the difference to the
 * first event of a file, in steps of a quarter of an hour as zones have it, is taken for it.
 */
final class LocalClock {
    private static final long QUARTER_MICROS = 15 * 60 * 1_000_000L;
    private static final String FORM = "dddd/dd/dd-dd:dd:dd.dddddd ";
    private static final long UNKNOWN = Long.MIN_VALUE;

    /** Local times that wait for the zone; few, and only before the first event of a file. */
    private final Intervals waiting = new Intervals();

    private int taken;
    private long zoneMicros = UNKNOWN;

    /** Where the message begins, after time and thread; -1 if the line has not this form. */
    static int endOfPrefix(byte[] line, int length) {
        if (length <= FORM.length()) {
            return -1;
        }
        for (int i = 0; i < FORM.length(); i++) {
            char form = FORM.charAt(i);
            boolean fits = form == 'd' ? isDigit(line[i]) : line[i] == form;
            if (!fits) {
                return -1;
            }
        }
        int at = FORM.length();
        while (at < length && line[at] != ' ') {
            at++;
        }
        return at < length ? at + 1 : -1;
    }

    private static boolean isDigit(byte character) {
        return character >= '0' && character <= '9';
    }

    /** The local time of a line with that form, as if the zone were UTC; in microseconds. */
    long parse(byte[] line) {
        try {
            LocalDateTime time =
                    LocalDateTime.of(
                            number(line, 0, 4),
                            number(line, 5, 2),
                            number(line, 8, 2),
                            number(line, 11, 2),
                            number(line, 14, 2),
                            number(line, 17, 2));
            return time.toEpochSecond(ZoneOffset.UTC) * 1_000_000L + number(line, 20, 6);
        } catch (DateTimeException e) {
            return UNKNOWN; // digits that are no date
        }
    }

    private static int number(byte[] line, int from, int digits) {
        int result = 0;
        for (int i = from; i < from + digits; i++) {
            result = 10 * result + line[i] - '0';
        }
        return result;
    }

    /** An event with both times. */
    void observe(long localMicros, long epochMicros) {
        if (zoneMicros == UNKNOWN && localMicros != UNKNOWN) {
            zoneMicros =
                    Math.round((double) (localMicros - epochMicros) / QUARTER_MICROS)
                            * QUARTER_MICROS;
        }
    }

    /** Keeps a moment, at once or when the zone is known. */
    void keep(long localMicros, Intervals moments) {
        if (localMicros == UNKNOWN) {
            return;
        }
        if (zoneMicros == UNKNOWN) {
            waiting.add(localMicros, localMicros);
        } else {
            moments.add(localMicros - zoneMicros, localMicros - zoneMicros);
        }
    }

    /** At the end of a file: what waits for a zone that was never seen counts as UTC. */
    void flush(Intervals moments) {
        long zone = zoneMicros == UNKNOWN ? 0 : zoneMicros;
        for (; taken < waiting.size(); taken++) {
            moments.add(waiting.start(taken) - zone, waiting.start(taken) - zone);
        }
    }
}
