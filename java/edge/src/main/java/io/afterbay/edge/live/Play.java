package io.afterbay.edge.live;

import io.afterbay.edge.lines.GrowingFile;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Plays what sites see: the lines of each file are appended to another one when they happen, all
 * sites at the same pace, and faster than life.
 *
 * <p>{@link #advance} is for one thread; the rest for any.
 */
final class Play implements AutoCloseable {
    private final Timeline timeline;
    private final double speed;
    private final List<SitePlay> sites = new ArrayList<>();
    private volatile long startedMs;
    private volatile boolean done;

    /**
     * @param inputs what each site sees, by name
     * @param directory for the files that grow
     * @param speed milliseconds of the timeline in a millisecond
     */
    Play(Timeline timeline, Map<String, Path> inputs, Path directory, double speed)
            throws IOException {
        this.timeline = timeline;
        this.speed = speed;
        for (Map.Entry<String, long[]> site : timeline.lines().entrySet()) {
            sites.add(
                    new SitePlay(
                            Objects.requireNonNull(inputs.get(site.getKey())),
                            file(directory, site.getKey()),
                            site.getValue()));
        }
    }

    /** Where the lines of a site appear; a {@link GrowingFile}. */
    static Path file(Path directory, String site) {
        return directory.resolve(site + ".ndjson");
    }

    /** Begins now. */
    void start() {
        startedMs = System.currentTimeMillis();
    }

    /** Writes what has happened by now. */
    void advance() throws IOException {
        long now = (long) ((System.currentTimeMillis() - startedMs) * speed);
        boolean all = true;
        for (SitePlay site : sites) {
            all &= site.writeUntil(now);
        }
        done = all;
    }

    boolean isDone() {
        return done;
    }

    /** When a watermark was reached by all sites, as {@link System#currentTimeMillis} tells it. */
    double timeOf(long watermarkMs) {
        return startedMs + (watermarkMs - timeline.firstMs()) / speed;
    }

    private static final class SitePlay implements AutoCloseable {
        private final BufferedReader from;
        private final BufferedWriter to;
        private final Path file;
        private final long[] due;
        private int next;
        private boolean ended;

        SitePlay(Path input, Path file, long[] due) throws IOException {
            this.from = Files.newBufferedReader(input);
            this.to = Files.newBufferedWriter(file);
            this.file = file;
            this.due = due;
        }

        /** Whether there is nothing more. */
        boolean writeUntil(long now) throws IOException {
            if (ended) {
                return true;
            }
            int before = next;
            while (next < due.length && due[next] <= now) {
                to.write(line());
                to.write('\n');
                next++;
            }
            if (next > before) {
                to.flush();
            }
            if (next == due.length) {
                Files.createFile(GrowingFile.endOf(file));
                ended = true;
            }
            return ended;
        }

        private String line() throws IOException {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (!line.isBlank()) {
                    return line;
                }
            }
            throw new IOException(file.getFileName() + ": its input has changed");
        }

        @Override
        public void close() throws IOException {
            try (from) {
                to.close();
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (SitePlay site : sites) {
            site.close();
        }
    }
}
