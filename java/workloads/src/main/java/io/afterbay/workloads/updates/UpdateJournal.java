package io.afterbay.workloads.updates;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What one attempt of one instance tells to whoever watches the job on the same machine, also from
 * another process: a file of its own, with the {@link Moment}s of its start at once, and with
 * samples of its counts that are complete when it has been closed.
 */
public final class UpdateJournal implements AutoCloseable {
    private static final String PREFIX = "part-";
    private static final String SEPARATOR = ",";

    /** What happens once in an attempt. */
    public enum Moment {
        /** The operator was given its state. */
        RESTORED,
        /** It has processed its first event. */
        FIRST_EVENT,
        /** It processes events when they are due. */
        CAUGHT_UP
    }

    /**
     * The count that event {@code number} made.
     *
     * @param whole whether the value before had all its bytes
     */
    public record Sample(long number, long count, boolean whole) {}

    /**
     * The journal of one attempt.
     *
     * @param moments in microseconds since the epoch by their ordinals, 0 for those that have not
     *     come
     */
    public record Part(int subtask, int attempt, long[] moments, List<Sample> samples) {
        public long micros(Moment moment) {
            return moments[moment.ordinal()];
        }
    }

    private final BufferedWriter out;

    UpdateJournal(Path directory, int subtask, int attempt) throws IOException {
        out = Files.newBufferedWriter(directory.resolve(PREFIX + subtask + "-" + attempt));
    }

    void moment(Moment moment, long epochMicros) throws IOException {
        out.write(moment + SEPARATOR + epochMicros + "\n");
        out.flush();
    }

    void sample(long number, long count, boolean whole) throws IOException {
        out.write(number + SEPARATOR + count + SEPARATOR + whole + "\n");
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /** All parts in a directory, in no order. The last line of one that is open may be cut off. */
    public static List<Part> read(Path directory) throws IOException {
        List<Part> parts = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
            for (Path file : files) {
                parts.add(part(file));
            }
        }
        return parts;
    }

    private static Part part(Path file) throws IOException {
        String[] name = file.getFileName().toString().split("-", -1);
        long[] moments = new long[Moment.values().length];
        List<Sample> samples = new ArrayList<>();
        String text = Files.readString(file);
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
            String[] fields = line.split(SEPARATOR, -1);
            if (fields.length == 2) {
                moments[Moment.valueOf(fields[0]).ordinal()] = Long.parseLong(fields[1]);
            } else {
                samples.add(sample(fields));
            }
        }
        return new Part(Integer.parseInt(name[1]), Integer.parseInt(name[2]), moments, samples);
    }

    private static Sample sample(String[] fields) {
        return new Sample(
                Long.parseLong(fields[0]),
                Long.parseLong(fields[1]),
                Boolean.parseBoolean(fields[2]));
    }
}
