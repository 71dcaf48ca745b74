package io.afterbay.replay;

import io.afterbay.replay.merge.MergeFigures;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a replay is given its orders and tells how far it is: small files in a directory of any of
 * Flink's file systems, beside the checkpoints. The command and the JobManager must both reach it;
 * TaskManagers need not.
 *
 * <pre>
 *   rate           records_per_second=2000.0
 *                  job=..., if only that one does the replay; cancelled=true, if none is to begin it
 *                  complete
 *   progress-0     source=0, sources=2, from_ms, records, records_per_second, reached_ms, has_ended
 *   progress-1     the same of the other source
 *   merge-0        conflicts, corrections, unsettled: of the merge before the first sink, if there is one
 * </pre>
 *
 * <p>Each is written as a whole: on a local disk by renaming, elsewhere by one write, which object
 * stores show when it is complete. A reader that meets half of a file reads it again. Thread safe.
 */
public final class ReplayControl {
    private static final String RATE = "rate";
    private static final String PROGRESS = "progress-";
    private static final String MERGE = "merge-";
    private static final String RECORDS_PER_SECOND = "records_per_second";
    private static final String JOB = "job";
    private static final String CANCELLED = "cancelled";
    private static final String LAST_LINE = "complete";

    private static final int TRIES = 20;
    private static final int PAUSE_MS = 50;

    private final Path directory;

    /** Touches nothing yet. */
    public ReplayControl(URI directory) {
        this.directory = new Path(directory);
    }

    /**
     * Takes effect within a second, for whichever job does the replay.
     *
     * @param recordsPerSecond of all subtasks of all sources together; 0 pauses, infinity is as
     *     fast as possible
     * @throws IllegalArgumentException if it is negative or no number
     */
    public void setRate(double recordsPerSecond) throws IOException {
        give(new ReplayOrders(recordsPerSecond, null, false));
    }

    /** Takes the place of what was said before, within a second. */
    public void give(ReplayOrders orders) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(RECORDS_PER_SECOND + "=" + orders.recordsPerSecond());
        if (orders.jobId() != null) {
            lines.add(JOB + "=" + orders.jobId());
        }
        if (orders.isCancelled()) {
            lines.add(CANCELLED + "=true");
        }
        write(RATE, lines);
    }

    /**
     * Records per second of all subtasks of all sources together.
     *
     * @throws ReplayImpossibleException if it was never set
     */
    public double rate() throws IOException {
        return orders().recordsPerSecond();
    }

    /**
     * What was said last.
     *
     * @throws ReplayImpossibleException if nothing ever was: a replay without a bound, which nobody
     *     can change, is not what was asked for
     */
    public ReplayOrders orders() throws IOException {
        Map<String, String> known = read(new Path(directory, RATE));
        if (known == null) {
            throw new ReplayImpossibleException(
                    "there is no rate of a replay in %s: the JobManager sees another place of that name than the command that began the replay; give it a place that both reach, by --checkpoint-dir"
                            .formatted(directory));
        }
        return new ReplayOrders(
                Double.parseDouble(required(known, RECORDS_PER_SECOND)),
                known.get(JOB),
                "true".equals(known.get(CANCELLED)));
    }

    /** Of a replay with one source. */
    public void tell(ReplayProgress progress) throws IOException {
        tell(0, 1, progress.reachedMs(), progress);
    }

    /**
     * Of one source of several.
     *
     * @param source its number, from 0
     * @param sources how many the job has
     * @param fromMs where the replay begins: the others are there until they have told more
     */
    void tell(int source, int sources, long fromMs, ReplayProgress progress) throws IOException {
        write(
                PROGRESS + source,
                List.of(
                        "source=" + source,
                        "sources=" + sources,
                        "from_ms=" + fromMs,
                        "records=" + progress.records(),
                        "records_per_second=" + progress.recordsPerSecond(),
                        "reached_ms=" + progress.reachedMs(),
                        "has_ended=" + progress.hasEnded()));
    }

    /** Over all sources; empty until the first has told something. */
    public Optional<ReplayProgress> progress() throws IOException {
        return ReplayProgress.of(progressOfSources());
    }

    /** Of each source, by its number; empty until the first has told something. */
    public List<ReplayProgress> progressOfSources() throws IOException {
        Map<String, String> first = told(0);
        if (first == null) {
            return List.of();
        }
        List<ReplayProgress> all = new ArrayList<>(List.of(progress(first)));
        for (int source = 1; source < number(first, "sources"); source++) {
            Map<String, String> other = told(source);
            all.add(
                    other == null
                            ? new ReplayProgress(0, 0, number(first, "from_ms"), false)
                            : progress(other));
        }
        return all;
    }

    private static ReplayProgress progress(Map<String, String> source) throws IOException {
        return new ReplayProgress(
                number(source, "records"),
                Double.parseDouble(required(source, "records_per_second")),
                number(source, "reached_ms"),
                hasEnded(source));
    }

    /** How many of the sources of a job have told that they have ended, but for one of them. */
    int othersThatHaveEnded(int source, int sources) throws IOException {
        int ended = 0;
        for (int other = 0; other < sources; other++) {
            Map<String, String> told = other == source ? null : told(other);
            if (told != null && hasEnded(told)) {
                ended++;
            }
        }
        return ended;
    }

    /** What the merge before one sink of several has done. */
    void tell(int sink, MergeFigures figures) throws IOException {
        write(
                MERGE + sink,
                List.of(
                        "conflicts=" + figures.conflicts(),
                        "corrections=" + figures.corrections(),
                        "unsettled=" + figures.unsettled()));
    }

    /** What the merges before all sinks have done; empty until one has told something. */
    public Optional<MergeFigures> merged() throws IOException {
        MergeFigures sum = null;
        for (Path file : files(MERGE)) {
            Map<String, String> told = read(file);
            if (told != null) {
                MergeFigures figures =
                        new MergeFigures(
                                number(told, "conflicts"),
                                number(told, "corrections"),
                                number(told, "unsettled"));
                sum = sum == null ? figures : sum.plus(figures);
            }
        }
        return Optional.ofNullable(sum);
    }

    /** The replay begins again: what was told of it is no longer so. Its orders stay. */
    public void forgetProgress() throws IOException {
        for (String kind : List.of(PROGRESS, MERGE)) {
            for (Path file : files(kind)) {
                directory.getFileSystem().delete(file, false);
            }
        }
    }

    private List<Path> files(String beginning) throws IOException {
        FileStatus[] all;
        try {
            all = directory.getFileSystem().listStatus(directory);
        } catch (FileNotFoundException e) {
            return List.of();
        }
        return all == null
                ? List.of()
                : Arrays.stream(all)
                        .map(FileStatus::getPath)
                        .filter(path -> path.getName().startsWith(beginning))
                        .toList();
    }

    private static boolean hasEnded(Map<String, String> source) throws IOException {
        return Boolean.parseBoolean(required(source, "has_ended"));
    }

    private static long number(Map<String, String> source, String key) throws IOException {
        return Long.parseLong(required(source, key));
    }

    private static String required(Map<String, String> file, String key) throws IOException {
        String value = file.get(key);
        if (value == null) {
            throw new IOException(
                    "a file of a replay's control lacks '" + key + "': another version wrote it");
        }
        return value;
    }

    private @Nullable Map<String, String> told(int source) throws IOException {
        return read(new Path(directory, PROGRESS + source));
    }

    private void write(String name, List<String> lines) throws IOException {
        FileSystem files = directory.getFileSystem();
        files.mkdirs(directory);
        byte[] text =
                (String.join("\n", lines) + "\n" + LAST_LINE + "\n")
                        .getBytes(StandardCharsets.UTF_8);
        if (files.isDistributedFS()) {
            try (FSDataOutputStream out =
                    files.create(new Path(directory, name), FileSystem.WriteMode.OVERWRITE)) {
                out.write(text);
            }
        } else {
            replaceLocal(java.nio.file.Path.of(directory.getPath()), name, text);
        }
    }

    /** Flink's own rename deletes the old file first, and no rate means no limit. */
    private static void replaceLocal(java.nio.file.Path directory, String name, byte[] text)
            throws IOException {
        java.nio.file.Path next = directory.resolve("." + name + "-" + UUID.randomUUID());
        try {
            Files.write(next, text);
            Files.move(next, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(next);
        }
    }

    /** Null if it is not there. */
    private static @Nullable Map<String, String> read(Path path) throws IOException {
        for (int attempt = 0; attempt < TRIES; attempt++) {
            String text;
            try {
                text = text(path);
            } catch (FileNotFoundException e) {
                return null;
            }
            if (text.endsWith(LAST_LINE + "\n")) {
                return content(text);
            }
            pause();
        }
        throw new IOException(path + " is not complete: it is damaged, delete it");
    }

    private static String text(Path path) throws IOException {
        try (FSDataInputStream in = path.getFileSystem().open(path)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Map<String, String> content(String text) {
        Map<String, String> content = new HashMap<>();
        for (String line : text.split("\n", -1)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                content.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return content;
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
