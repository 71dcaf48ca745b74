package io.afterbay.flink.it;

import io.afterbay.testing.LiveTree;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.StreamStateHandle;

/** Files that nobody needs any more and nobody will delete. */
final class Leaks {
    private static final String METADATA = "_metadata";

    private Leaks() {}

    /**
     * Time in which what was written may be left by tasks that ended with no chance to clear up.
     *
     * @param from begin of the checkpoint that was completed {@link #CHECKPOINTS} before the last
     *     one before the kill
     * @param to the restore after it
     */
    record Kill(Instant from, Instant to) {
        /**
         * More than complete while a base is written behind them, on a machine that is not slow.
         */
        static final int CHECKPOINTS = 4;

        /**
         * Files of a base that was written behind the checkpoints, and of one that was not
         * complete.
         */
        static final int CHECKPOINTS_OF_FILES = 2;

        boolean includes(Instant time) {
            return !time.isBefore(from) && !time.isAfter(to);
        }
    }

    /**
     * Files of stores, and of local copies of checkpoints, in the working directories of
     * TaskManagers. Those of jobs that have ended are leaks.
     */
    static Set<Path> local(Path workingDirectories) throws IOException {
        Set<Path> found = new TreeSet<>();
        try (Stream<Path> processes = Files.list(workingDirectories)) {
            for (Path process : processes.toList()) {
                found.addAll(LiveTree.files(process.resolve("tmp")));
                found.addAll(LiveTree.files(process.resolve("localState")));
            }
        }
        return found;
    }

    /** Files in checkpoint storage that no checkpoint there refers to. */
    static Set<Path> orphans(Path storage) throws IOException {
        Set<Path> orphans = new TreeSet<>(LiveTree.files(storage));
        orphans.removeAll(referred(storage));
        return orphans;
    }

    /** The files of all checkpoints in a storage: what their metadata refer to, and these. */
    static Set<Path> referred(Path storage) throws IOException {
        Set<Path> referred = new TreeSet<>();
        for (Path file : LiveTree.files(storage)) {
            if (file.getFileName().toString().equals(METADATA)) {
                referred.add(file);
                referredBy(file).forEach(referred::add);
            }
        }
        return referred;
    }

    private static Stream<Path> referredBy(Path metadata) throws IOException {
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(metadata)))) {
            CheckpointMetadata checkpoint =
                    Checkpoints.loadCheckpointMetadata(
                            in, Leaks.class.getClassLoader(), metadata.getParent().toString());
            Stream<StreamStateHandle> coordinators =
                    checkpoint.getOperatorStates().stream()
                            .flatMap(state -> Stream.ofNullable(state.getCoordinatorState()));
            Stream<StreamStateHandle> subtasks =
                    checkpoint.getOperatorStates().stream()
                            .flatMap(state -> state.getStates().stream())
                            .flatMap(Leaks::states)
                            .flatMap(Leaks::streams);
            return Stream.concat(coordinators, subtasks)
                    .flatMap(handle -> handle.maybeGetPath().stream())
                    .map(path -> Path.of(path.getPath()))
                    .toList()
                    .stream();
        }
    }

    private static Stream<StateObject> states(OperatorSubtaskState subtask) {
        return Stream.of(
                        subtask.getManagedKeyedState(),
                        subtask.getRawKeyedState(),
                        subtask.getManagedOperatorState(),
                        subtask.getRawOperatorState())
                .flatMap(states -> states.stream());
    }

    private static Stream<StreamStateHandle> streams(StateObject state) {
        if (state instanceof IncrementalRemoteKeyedStateHandle incremental) {
            return Stream.concat(
                    Stream.of(incremental.getMetaDataStateHandle()),
                    Stream.concat(
                                    incremental.getSharedState().stream(),
                                    incremental.getPrivateState().stream())
                            .map(HandleAndLocalPath::getHandle));
        }
        if (state instanceof KeyGroupsStateHandle groups) {
            return Stream.of(groups.getDelegateStateHandle());
        }
        if (state instanceof OperatorStateHandle operator) {
            return Stream.of(operator.getDelegateStateHandle());
        }
        throw new IllegalArgumentException("state of an unknown kind: " + state);
    }

    /**
     * Says what is wrong if orphans do not come from kills; nothing if they do.
     *
     * <p>A process that is killed leaves what it has uploaded for the checkpoint that was under
     * way, of which the JobManager was not told yet, and what it has uploaded before: pieces of the
     * log since the last checkpoint began, and a new base (ADR 0026). Tasks that are cancelled
     * because of it leave the former, if what they say last is not heard. No task of before the
     * restore uploads anything behind it. Hence the times, and hence the number. What else is not
     * deleted is a leak.
     *
     * @param filesMax of one checkpoint
     */
    static String fault(Set<Path> orphans, List<Kill> kills, int filesMax) {
        Set<Path> leaked =
                orphans.stream()
                        .filter(file -> kills.stream().noneMatch(k -> k.includes(written(file))))
                        .collect(Collectors.toCollection(TreeSet::new));
        if (!leaked.isEmpty()) {
            return "%d files in checkpoint storage belong to no checkpoint, and no TaskManager was killed when they were written (%s):%n%s"
                    .formatted(leaked.size(), kills, describe(leaked));
        }
        long limit = (long) kills.size() * Kill.CHECKPOINTS_OF_FILES * filesMax;
        return orphans.size() <= limit
                ? ""
                : "%d files in checkpoint storage belong to no checkpoint; %d kills leave %d at most"
                        .formatted(orphans.size(), kills.size(), limit);
    }

    /** The number of orphans of each kill. */
    static List<Long> perKill(Set<Path> orphans, List<Kill> kills) {
        return kills.stream()
                .map(kill -> orphans.stream().filter(f -> kill.includes(written(f))).count())
                .toList();
    }

    private static String describe(Set<Path> files) {
        return files.stream()
                .map(file -> "%s, written %s%n".formatted(file, written(file)))
                .collect(Collectors.joining());
    }

    private static Instant written(Path file) {
        try {
            return Files.getLastModifiedTime(file).toInstant();
        } catch (NoSuchFileException e) {
            return Instant.MAX;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
