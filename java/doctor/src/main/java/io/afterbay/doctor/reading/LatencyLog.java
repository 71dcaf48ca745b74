package io.afterbay.doctor.reading;

import static java.lang.Double.NaN;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.zip.ZipException;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.jspecify.annotations.Nullable;

/**
 * Latency in windows of time, with processors and queue beside it if they are there: from an
 * interval log of HdrHistogram (values in nanoseconds, as is usual), or from CSV with a line per
 * window. Its header names the columns, see {@link LatencyColumns}; without a header they are
 * {@code time,latency}. Times are the begin of the window: seconds, milliseconds or microseconds
 * since 1970, or ISO 8601; latency is in milliseconds. Not safe for threads.
 */
public final class LatencyLog {
    private static final int MIN_WINDOWS = 2;
    private static final double MAX_SECONDS = 1e11;
    private static final double MAX_MILLIS = 1e14;

    /** Shares of processors are measured with some noise. */
    private static final double MAX_CPU = 1.25;

    private static final int QUOTED = 60;

    private final Intervals starts = new Intervals();
    private double[] millis = new double[1024];
    private double[] cpu = new double[1024];
    private double[] queue = new double[1024];
    private LatencyColumns columns = LatencyColumns.DEFAULT;
    private boolean hasCpu;
    private boolean hasQueue;
    private long windowMicros;
    private long damagedLines;
    private String firstDamage = "";

    private LatencyLog() {}

    /**
     * Reads a file. Lines that are damaged are counted and skipped.
     *
     * @throws IOException with the place and the form that is expected, if no windows are left
     */
    public static LatencyLog read(Path file) throws IOException {
        LatencyLog log = new LatencyLog();
        try (BufferedReader in = reader(file)) {
            String first = in.readLine();
            if (first != null && isHistogramLog(first)) {
                log.readHistograms(file);
            } else {
                log.readCsv(in, first);
            }
        } catch (EOFException | ZipException e) {
            log.damagedLines++; // packed, and cut off
        }
        if (log.size() < MIN_WINDOWS) {
            throw new IOException(
                    log.firstDamage
                            + "there are no two windows of latency in it; it must be an interval log of"
                            + " HdrHistogram, or lines such as 1763866800.050,12.5 (begin of the"
                            + " window in seconds since 1970, milliseconds)");
        }
        return log;
    }

    /** Bytes that are no text become signs that no number has, rather than an error. */
    private static BufferedReader reader(Path file) throws IOException {
        return new BufferedReader(new InputStreamReader(InputFile.open(file), UTF_8));
    }

    private static boolean isHistogramLog(String first) {
        return first.startsWith("#[") || first.startsWith("\"StartTimestamp\"");
    }

    private void readHistograms(Path file) throws IOException {
        try (HistogramLogReader reader = new HistogramLogReader(InputFile.open(file))) {
            while (reader.hasNext()) {
                if (reader.nextIntervalHistogram() instanceof Histogram histogram
                        && !add(
                                histogram.getStartTimeStamp() * 1000L,
                                histogram.getMaxValue() / 1e6,
                                NaN,
                                NaN)) {
                    damagedLines++;
                }
            }
        } catch (RuntimeException e) { // the reader's own, of many kinds: a line is cut off
            damagedLines++;
        }
    }

    private void readCsv(BufferedReader in, @Nullable String first) throws IOException {
        int number = 1;
        for (String line = first; line != null; line = in.readLine(), number++) {
            if (number == 1 && LatencyColumns.isHeader(line)) {
                readHeader(line);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                readCsv(line, number);
            }
        }
    }

    private void readHeader(String line) throws IOException {
        columns = LatencyColumns.of(line);
        if (columns.latency() < 0) {
            throw new IOException(
                    "its header '"
                            + quoted(line)
                            + "' has no latency; name a column latency_ms, max or p99");
        }
    }

    private void readCsv(String line, int number) {
        String[] words = line.split(",", -1);
        try {
            long time = micros(words[0].strip());
            double latency = number(words, columns.latency());
            double share = number(words, columns.cpu());
            if (Double.isFinite(latency)
                    && !(share > MAX_CPU)
                    && add(time, latency, share, number(words, columns.queue()))) {
                return;
            }
        } catch (DateTimeException | NumberFormatException e) {
            // counted as damaged
        }
        damaged(line, number);
    }

    private void damaged(String line, int number) {
        if (damagedLines++ == 0) {
            firstDamage =
                    ("line %d '%s' is not time,latency, for example 1763866800.050,12.5 (seconds since"
                                    + " 1970, and later than the line before; milliseconds; cpu is 0"
                                    + " to 1); ")
                            .formatted(number, quoted(line));
        }
    }

    /** The beginning, without signs that a terminal would obey. */
    private static String quoted(String line) {
        return line.substring(0, Math.min(QUOTED, line.length())).replaceAll("[^\\x20-\\x7e]", "?");
    }

    /** Not a number if there is no such column, or nothing in it. */
    private static double number(String[] words, int column) {
        boolean isThere = column >= 0 && column < words.length && !words[column].isBlank();
        return isThere ? Double.parseDouble(words[column].strip()) : NaN;
    }

    private static long micros(String time) {
        if (time.indexOf('T') > 0) {
            Instant instant = Instant.parse(time);
            return instant.getEpochSecond() * 1_000_000L + instant.getNano() / 1000;
        }
        double value = Double.parseDouble(time);
        double unit = value < MAX_SECONDS ? 1e6 : value < MAX_MILLIS ? 1e3 : 1;
        return Math.round(value * unit);
    }

    /** Appends a window; false if it begins before the last one (a clock set back). */
    private boolean add(long startMicros, double latencyMillis, double cpuShare, double queued) {
        int window = starts.size();
        if (window > 0 && startMicros <= starts.start(window - 1)) {
            return false;
        }
        if (window == millis.length) {
            millis = Arrays.copyOf(millis, 2 * window);
            cpu = Arrays.copyOf(cpu, 2 * window);
            queue = Arrays.copyOf(queue, 2 * window);
        }
        millis[window] = latencyMillis;
        cpu[window] = cpuShare;
        queue[window] = queued;
        hasCpu |= !Double.isNaN(cpuShare);
        hasQueue |= !Double.isNaN(queued);
        starts.add(startMicros, startMicros);
        return true;
    }

    /** For tests: equal windows. */
    public static LatencyLog of(long firstMicros, long windowMicros, double... millis) {
        LatencyLog log = new LatencyLog();
        for (int i = 0; i < millis.length; i++) {
            log.add(firstMicros + i * windowMicros, millis[i], NaN, NaN);
        }
        return log;
    }

    public int size() {
        return starts.size();
    }

    /** Lines that could not be used. */
    public long damagedLines() {
        return damagedLines;
    }

    /** The begin of a window, in microseconds since 1970. */
    public long start(int window) {
        return starts.start(window);
    }

    /** The latency of a window, in milliseconds: which of its latencies, says {@link #what}. */
    public double millis(int window) {
        return millis[window];
    }

    /** {@code worst} of each window, or as in {@code P99}. */
    public String what() {
        return columns.what();
    }

    public boolean hasCpu() {
        return hasCpu;
    }

    public boolean hasQueue() {
        return hasQueue;
    }

    /** The part of all processors that was busy, 0 to 1; not a number if it is not known. */
    public double cpu(int window) {
        return cpu[window];
    }

    /** Events that waited; not a number if it is not known. */
    public double queue(int window) {
        return queue[window];
    }

    /** The median distance of windows, in microseconds. */
    public long windowMicros() {
        if (windowMicros == 0) {
            long[] gaps = new long[size() - 1];
            for (int i = 0; i < gaps.length; i++) {
                gaps[i] = start(i + 1) - start(i);
            }
            Arrays.sort(gaps);
            windowMicros = gaps[gaps.length / 2];
        }
        return windowMicros;
    }

    /** The first window that ends after the time; {@link #size} if all end before. */
    public int windowAt(long micros) {
        long width = windowMicros();
        int low = 0;
        int high = size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (start(middle) + width <= micros) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
