package io.afterbay.cli.doctor.reading;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.jspecify.annotations.Nullable;

/**
 * The worst latency of each window: from an interval log of HdrHistogram (values in nanoseconds, as
 * is usual), or from CSV with {@code time,latency} per line: the begin of the window (seconds,
 * milliseconds or microseconds since 1970, or ISO 8601) and milliseconds. Not safe for threads.
 */
public final class LatencyLog {
    private static final int MIN_WINDOWS = 2;
    private static final double MAX_SECONDS = 1e11;
    private static final double MAX_MILLIS = 1e14;

    private final Intervals starts = new Intervals();
    private double[] millis = new double[1024];
    private long windowMicros;

    private LatencyLog() {}

    /**
     * Reads a file.
     *
     * @throws IOException with the place and the form that is expected
     */
    public static LatencyLog read(Path file) throws IOException {
        LatencyLog log = new LatencyLog();
        try (BufferedReader in = Files.newBufferedReader(file)) {
            String first = in.readLine();
            if (first != null && isHistogramLog(first)) {
                log.readHistograms(file.toFile());
            } else {
                log.readCsv(in, first);
            }
        }
        if (log.size() < MIN_WINDOWS) {
            throw new IOException(
                    "there are no two windows of latency in it; it must be an interval log of"
                            + " HdrHistogram, or lines such as 1763866800.050,12.5 (begin of the"
                            + " window in seconds since 1970, milliseconds)");
        }
        return log;
    }

    private static boolean isHistogramLog(String first) {
        return first.startsWith("#[") || first.startsWith("\"StartTimestamp\"");
    }

    private void readHistograms(File file) throws IOException {
        try (HistogramLogReader reader = new HistogramLogReader(file)) {
            while (reader.hasNext()) {
                EncodableHistogram next = reader.nextIntervalHistogram();
                if (next instanceof Histogram histogram) {
                    add(histogram.getStartTimeStamp() * 1000L, histogram.getMaxValue() / 1e6);
                }
            }
        }
    }

    private void readCsv(BufferedReader in, @Nullable String first) throws IOException {
        int number = 1;
        for (String line = first; line != null; line = in.readLine(), number++) {
            if (!line.isBlank() && !line.startsWith("#") && !(number == 1 && isHeader(line))) {
                readCsv(line, number);
            }
        }
    }

    private static boolean isHeader(String line) {
        return line.startsWith("time") || line.startsWith("\"time");
    }

    private void readCsv(String line, int number) throws IOException {
        String[] words = line.split(",", -1);
        try {
            add(micros(words[0].strip()), Double.parseDouble(words[1].strip()));
        } catch (DateTimeException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            throw new IOException(
                    "line "
                            + number
                            + " '"
                            + line.substring(0, Math.min(60, line.length()))
                            + "' is not time,latency; for example 1763866800.050,12.5 (seconds"
                            + " since 1970, milliseconds)",
                    e);
        }
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

    /** Appends a window; one that begins before the last one (a clock set back) is left out. */
    private void add(long startMicros, double latencyMillis) {
        if (!starts.isEmpty() && startMicros <= starts.start(starts.size() - 1)) {
            return;
        }
        if (starts.size() == millis.length) {
            millis = Arrays.copyOf(millis, 2 * millis.length);
        }
        millis[starts.size()] = latencyMillis;
        starts.add(startMicros, startMicros);
    }

    /** For tests: equal windows. */
    public static LatencyLog of(long firstMicros, long windowMicros, double... millis) {
        LatencyLog log = new LatencyLog();
        for (int i = 0; i < millis.length; i++) {
            log.add(firstMicros + i * windowMicros, millis[i]);
        }
        return log;
    }

    public int size() {
        return starts.size();
    }

    /** The begin of a window, in microseconds since 1970. */
    public long start(int window) {
        return starts.start(window);
    }

    /** The longest latency in a window, in milliseconds. */
    public double millis(int window) {
        return millis[window];
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
