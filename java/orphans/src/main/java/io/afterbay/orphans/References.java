package io.afterbay.orphans;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.jspecify.annotations.Nullable;

/**
 * The files that all checkpoints refer to, those of the jobs in question and all others that could
 * have restored one of theirs.
 *
 * <p>A reference counts by the name of the file, whatever its directory: Flink names files by
 * random UUIDs, so two of one name are copies, and one file is called by several paths where a
 * directory is mounted twice, or where a bucket is {@code s3://} here and {@code s3a://} there.
 *
 * <p>A reference to a file that is not there is a problem: Flink's format has no checksums, and a
 * damaged {@code _metadata} may name one file instead of another.
 */
final class References {
    /** A job that runs completes checkpoints, and deletes others, while they are read. */
    private static final int ROUNDS_MAX = 10;

    /** Between the deletion of shared files and of the {@code _metadata} that names them. */
    private static final long SUBSUMPTION_MS = 2000;

    private final CheckpointPaths paths;
    private final Consumer<String> progress;
    private final Map<Path, Collection<Path>> byCheckpoint = new LinkedHashMap<>();
    private final Set<String> names = new HashSet<>();
    private final List<Problem> problems = new ArrayList<>();
    private final Map<Path, Set<String>> listed = new HashMap<>();

    References(CheckpointPaths paths, Consumer<String> progress) {
        this.paths = paths;
        this.progress = progress;
    }

    /** Reads all checkpoints below some directories. */
    void read(List<Path> roots) throws InterruptedException {
        for (int round = 0; round < ROUNDS_MAX; round++) {
            problems.clear();
            if (readAll(MetadataSearch.below(roots, problems::add))) {
                checkPresence();
                return;
            }
        }
        problems.add(
                new Problem(
                        roots.get(0),
                        "checkpoints come and go faster than they can be read; try again"));
    }

    /** False if one was deleted meanwhile: there may be new ones instead. */
    private boolean readAll(List<Path> checkpoints) {
        boolean complete = true;
        for (Path metadata : checkpoints) {
            if (!byCheckpoint.containsKey(metadata)) {
                progress.accept(byCheckpoint.size() + " checkpoints read");
                complete &= read(metadata);
            }
        }
        return complete;
    }

    private boolean read(Path metadata) {
        String reason = null;
        try {
            Collection<Path> found = parse(metadata);
            found.forEach(path -> names.add(path.getName()));
            byCheckpoint.put(metadata, found);
        } catch (IOException | RuntimeException | OutOfMemoryError | StackOverflowError e) {
            if (!isThere(metadata)) {
                return false;
            }
            reason = Problem.reason(e);
        }
        if (reason != null) {
            problems.add(
                    new Problem(
                            metadata,
                            ("it cannot be read completely (%s): it is damaged, or of a newer"
                                            + " Flink; if nobody needs this checkpoint, remove"
                                            + " its directory")
                                    .formatted(reason)));
        }
        return true;
    }

    private Collection<Path> parse(Path metadata) throws IOException {
        try (DataInputStream in =
                new DataInputStream(
                        new BufferedInputStream(metadata.getFileSystem().open(metadata)))) {
            Collection<Path> found =
                    paths.of(
                            Checkpoints.loadCheckpointMetadata(
                                    in,
                                    References.class.getClassLoader(),
                                    metadata.getParent().toString()));
            if (in.read() >= 0) {
                throw new IOException("there are bytes behind its end");
            }
            return found;
        }
    }

    private static boolean isThere(Path path) {
        try {
            return Storage.exists(path);
        } catch (IOException e) {
            return true; // it may be
        }
    }

    private void checkPresence() throws InterruptedException {
        Map<Path, Path> missing = missing();
        if (!missing.isEmpty()) {
            TimeUnit.MILLISECONDS.sleep(SUBSUMPTION_MS);
        }
        missing.forEach(
                (metadata, path) -> {
                    if (isThere(metadata)) {
                        problems.add(
                                new Problem(
                                        metadata,
                                        ("it refers to %s, which is not there: it is damaged, or the"
                                                        + " checkpoint is; if nobody needs this"
                                                        + " checkpoint, remove its directory")
                                                .formatted(path)));
                    }
                });
    }

    /** Of each checkpoint one file that it refers to and that is not there, if there is one. */
    private Map<Path, Path> missing() {
        Map<Path, Path> missing = new LinkedHashMap<>();
        byCheckpoint.forEach(
                (metadata, found) ->
                        found.stream()
                                .filter(path -> !isListed(path))
                                .findFirst()
                                .ifPresent(path -> missing.put(metadata, path)));
        return missing;
    }

    private boolean isListed(Path file) {
        Path parent = file.getParent();
        return parent != null
                && listed.computeIfAbsent(parent, References::list).contains(file.getName());
    }

    private static Set<String> list(Path directory) {
        Set<String> names = new HashSet<>();
        try {
            Storage.list(directory).forEach(entry -> names.add(entry.name()));
        } catch (IOException e) {
            // All in it counts as missing, which is said with the checkpoint.
        }
        return names;
    }

    /** Whether some checkpoint refers to a file. */
    boolean contains(StoredFile file) {
        return names.contains(file.path().getName());
    }

    /** The {@code _metadata} of checkpoints that were read. */
    Set<Path> checkpoints() {
        return byCheckpoint.keySet();
    }

    /** Different files that are referred to. */
    int size() {
        return names.size();
    }

    List<Problem> problems() {
        return problems;
    }

    /** The first reason to delete nothing, or null. */
    @Nullable Problem firstProblem() {
        return problems.isEmpty() ? null : problems.get(0);
    }
}
