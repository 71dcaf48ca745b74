package io.afterbay.cli.engine;

import io.afterbay.command.CommandFailure;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * A checkpoint or savepoint to start from.
 *
 * @param path what Flink takes for {@code execution.state-recovery.path}
 * @param number of the checkpoint; 0 for a savepoint
 */
public record RestorePoint(Path path, long modifiedMs, long number) {
    /** Written last: a checkpoint without it is not complete. */
    private static final String METADATA = "_metadata";

    /** What else is in the directory of a job: files of many checkpoints. */
    private static final Set<String> OTHERS = Set.of("shared", "taskowned");

    private static final Pattern CHECKPOINT = Pattern.compile("chk-(\\d+)");

    /** A directory of checkpoints, that of a job in it, and that of a checkpoint. */
    private static final int DEPTH_MAX = 2;

    /** Object stores tell times to the second. */
    private static final Comparator<RestorePoint> BY_AGE =
            Comparator.comparingLong(RestorePoint::modifiedMs)
                    .thenComparingLong(RestorePoint::number);

    /**
     * The checkpoint or savepoint at this path, or else the newest complete checkpoint below it.
     *
     * @throws CommandFailure if there is none, or the storage does not answer
     */
    public static RestorePoint find(String text) throws CommandFailure {
        return newest(text)
                .orElseThrow(
                        () ->
                                new CommandFailure(
                                        "there is no complete checkpoint or savepoint at " + text));
    }

    /**
     * The same, if there is one.
     *
     * @throws CommandFailure if the storage does not answer
     */
    public static Optional<RestorePoint> newest(String text) throws CommandFailure {
        try {
            Path path = new Path(StoragePath.uri(text));
            List<RestorePoint> found = new ArrayList<>();
            collect(path.getFileSystem(), path, DEPTH_MAX, found);
            return found.stream().max(BY_AGE);
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandFailure("%s: %s".formatted(text, CommandFailure.reason(e)), e);
        }
    }

    private static void collect(FileSystem storage, Path path, int depth, List<RestorePoint> into)
            throws IOException {
        List<FileStatus> entries = list(storage, path);
        for (FileStatus entry : entries) {
            if (!entry.isDir() && entry.getPath().getName().equals(METADATA)) {
                into.add(new RestorePoint(path, entry.getModificationTime(), number(path)));
                return;
            }
        }
        for (FileStatus entry : entries) {
            if (entry.isDir() && depth > 0 && !OTHERS.contains(entry.getPath().getName())) {
                collect(storage, entry.getPath(), depth - 1, into);
            }
        }
    }

    private static List<FileStatus> list(FileSystem storage, Path path) throws IOException {
        try {
            FileStatus[] entries = storage.listStatus(path);
            return entries == null ? List.of() : List.of(entries);
        } catch (FileNotFoundException e) {
            return List.of();
        }
    }

    private static long number(Path path) {
        var checkpoint = CHECKPOINT.matcher(path.getName());
        return checkpoint.matches() ? Long.parseLong(checkpoint.group(1)) : 0;
    }
}
