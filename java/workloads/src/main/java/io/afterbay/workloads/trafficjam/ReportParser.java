package io.afterbay.workloads.trafficjam;

import org.jspecify.annotations.Nullable;

/**
 * Reads lines of a trace: {@code time_s,car,street,x_m,y_m,speed_mps}. Speeds are rounded half up
 * to 0.1 m/s here, once per report, so that every later sum is one of integers.
 */
public final class ReportParser {
    /** The first line of every trace. */
    public static final String HEADER = "time_s,car,street,x_m,y_m,speed_mps";

    /** Event times end here (the year 5138), far from any overflow in milliseconds. */
    static final long MAX_TIME_S = 100_000_000_000L;

    /** Faster than any vehicle; keeps a speed within an int and sums far from overflow. */
    private static final long MAX_SPEED_MPS = 100_000_000;

    private static final int COLUMNS = 6;

    /** A report, or the reason why the line is none; a reason holds no comma. */
    public record Result(@Nullable Report report, String problem) {}

    private ReportParser() {}

    /** Parses one line without its line end. The report's stamp is 0. */
    public static Result parse(String line) {
        String[] columns = split(line);
        if (columns == null) {
            return problem("not 6 columns");
        }
        long timeS = wholeSeconds(columns[0]);
        if (timeS < 0) {
            return problem("time_s is not a whole number of seconds from 0 to " + MAX_TIME_S);
        }
        if (columns[1].isBlank() || columns[2].isBlank()) {
            return problem(columns[1].isBlank() ? "car is empty" : "street is empty");
        }
        if (!isNumber(columns[3]) || !isNumber(columns[4])) {
            return problem((isNumber(columns[3]) ? "y_m" : "x_m") + " is not a number");
        }
        long speedDms = tenths(columns[5]);
        if (speedDms < 0) {
            return problem("speed_mps is not a number from 0 to " + MAX_SPEED_MPS);
        }
        return new Result(new Report(timeS, columns[1], columns[2], (int) speedDms, 0), "");
    }

    private static Result problem(String problem) {
        return new Result(null, problem);
    }

    private static String @Nullable [] split(String line) {
        String[] columns = new String[COLUMNS];
        int start = 0;
        for (int i = 0; i < COLUMNS - 1; i++) {
            int comma = line.indexOf(',', start);
            if (comma < 0) {
                return null;
            }
            columns[i] = line.substring(start, comma);
            start = comma + 1;
        }
        columns[COLUMNS - 1] = line.substring(start);
        return columns[COLUMNS - 1].indexOf(',') < 0 ? columns : null;
    }

    /** The number, or -1. */
    private static long wholeSeconds(String text) {
        long value = digits(text, 0, text.length(), MAX_TIME_S);
        return text.isEmpty() ? -1 : value;
    }

    private static boolean isNumber(String text) {
        int start = text.startsWith("-") ? 1 : 0;
        return start < text.length() && isDecimal(text, start);
    }

    /** Digits, at most one point, and a digit on at least one side of it. */
    private static boolean isDecimal(String text, int start) {
        int points = 0;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '.') {
                points++;
            } else if (c < '0' || c > '9') {
                return false;
            }
        }
        return points <= 1 && text.length() - start > points;
    }

    /** A decimal number in tenths, rounded half up, or -1 if it is none or out of range. */
    private static long tenths(String text) {
        if (!isDecimal(text, 0)) {
            return -1;
        }
        int point = text.indexOf('.') < 0 ? text.length() : text.indexOf('.');
        long whole = digits(text, 0, point, MAX_SPEED_MPS);
        if (whole < 0) {
            return -1;
        }
        return whole * 10 + digitAt(text, point + 1) + (digitAt(text, point + 2) >= 5 ? 1 : 0);
    }

    private static int digitAt(String text, int index) {
        return index < text.length() ? text.charAt(index) - '0' : 0;
    }

    /** The value of a run of digits (0 for an empty one), or -1 if it is none or above max. */
    private static long digits(String text, int from, int to, long max) {
        long value = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = value * 10 + digit;
            if (value > max) {
                return -1;
            }
        }
        return value;
    }
}
