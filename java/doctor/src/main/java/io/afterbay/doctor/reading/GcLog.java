package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * The pauses in the garbage collector's log of a JVM ({@code -Xlog:gc*}, JDK 9 and later): lines of
 * the form {@code GC(7) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms}, which
 * are written when the pause ends. Not safe for threads.
 *
 * <p>Decorations may be any, but one must be a time. Where there is the uptime only, the last line
 * is taken to be as old as the file's last change; see {@link #isApproximate}.
 */
public final class GcLog {
    private final List<Pause> pauses = new ArrayList<>();
    private boolean isApproximate;
    private long foreignLines;

    private GcLog() {}

    /**
     * A time in which all threads of the program stood still.
     *
     * @param startMicros since 1970
     * @param kind as the JVM names it, such as {@code Pause Young (Normal) (G1 Evacuation Pause)}
     */
    public record Pause(long startMicros, long endMicros, String kind) {
        public long lengthMicros() {
            return endMicros - startMicros;
        }
    }

    /**
     * Reads the files of one JVM: the current one and those that were rotated, in any order.
     *
     * @throws IOException with the place and the form that is expected
     */
    public static GcLog read(List<Path> files) throws IOException {
        GcLog log = new GcLog();
        for (Path file : files) {
            try {
                log.read(file);
            } catch (IOException e) {
                throw new IOException(file + ": " + LogReading.reason(e), e);
            }
        }
        log.pauses.sort(Comparator.comparingLong(Pause::startMicros));
        return log;
    }

    /** For tests: pauses in their order. */
    public static GcLog of(List<Pause> pauses) {
        GcLog log = new GcLog();
        log.pauses.addAll(pauses);
        return log;
    }

    private void read(Path file) throws IOException {
        List<GcLine> timed = timedLines(file);
        if (timed.isEmpty()) {
            throw new IOException(
                    "no line of it is one of -Xlog:gc* with a time; start the JVM with"
                            + " -Xlog:gc*:file=gc.log:time,uptime,level,tags (JDK 9 or later)");
        }
        GcLine last = timed.get(timed.size() - 1);
        isApproximate |= last.isUptime();
        long begin =
                last.isUptime()
                        ? Files.getLastModifiedTime(file).toMillis() * 1000 - last.micros()
                        : 0;
        timed.forEach(line -> add(line, begin));
    }

    /** Those with a pause, and the last one of all. */
    private List<GcLine> timedLines(Path file) throws IOException {
        List<GcLine> result = new ArrayList<>();
        @Nullable GcLine last = null;
        try (LogLines lines = new LogLines(InputFile.open(file))) {
            while (lines.next()) {
                GcLine line = GcLine.parse(text(lines));
                if (line == null) {
                    foreignLines++;
                    continue;
                }
                last = line;
                if (line.pause() != null) {
                    result.add(line);
                }
            }
        } catch (EOFException | ZipException e) {
            foreignLines++; // packed, and cut off
        }
        if (last != null) {
            result.add(last.withoutPause());
        }
        return result;
    }

    private static String text(LogLines lines) {
        return new String(lines.line(), 0, lines.length(), ISO_8859_1);
    }

    private void add(GcLine line, long begin) {
        @Nullable String kind = line.pause();
        if (kind != null) {
            long end = line.micros() + (line.isUptime() ? begin : 0);
            pauses.add(new Pause(end - line.lengthMicros(), end, kind));
        }
    }

    /** In the order of their begin. */
    public List<Pause> pauses() {
        return pauses;
    }

    public Intervals intervals() {
        Intervals result = new Intervals();
        pauses.forEach(pause -> result.add(pause.startMicros, pause.endMicros));
        return result;
    }

    /** Whether times come from the file's last change, since the lines have the uptime only. */
    public boolean isApproximate() {
        return isApproximate;
    }

    /** Lines without a time of the JVM; some output of several lines is such, too. */
    public long foreignLines() {
        return foreignLines;
    }
}
