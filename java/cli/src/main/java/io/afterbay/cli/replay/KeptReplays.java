package io.afterbay.cli.replay;

import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The replays that are kept in one place, each in a directory of its name.
 *
 * @param root the place, which may not be there
 */
record KeptReplays(Path root) {
    /** Begins what is no replay, or not yet, or not any more; no identifier begins with a dot. */
    private static final String HIDDEN = ".";

    /** Begins the directory of one that is being made. */
    static final String UNFINISHED = HIDDEN + "new-";

    /** Begins that of one that is being removed. */
    static final String REMOVED = HIDDEN + "removed-";

    /**
     * @throws CommandFailure if there is none of that name
     */
    ReplayDirectory find(String id) throws CommandFailure {
        ReplayDirectory found = ReplayDirectory.of(root.resolve(id));
        if (!found.exists()) {
            throw new CommandFailure(
                    "there is no replay %s in %s; './afterbay replay status' lists them"
                            .formatted(id, root));
        }
        return found;
    }

    /** By their names. */
    List<ReplayDirectory> all() throws CommandFailure {
        return entries().stream()
                .filter(path -> !isCalled(path, HIDDEN))
                .map(ReplayDirectory::of)
                .filter(ReplayDirectory::exists)
                .toList();
    }

    /** Removes what is left of removals that were cut off. */
    void sweep() throws CommandFailure {
        entries().stream().filter(path -> isCalled(path, REMOVED)).forEach(WorkDirectory::remove);
    }

    private static boolean isCalled(Path path, String beginning) {
        return path.getFileName().toString().startsWith(beginning);
    }

    private List<Path> entries() throws CommandFailure {
        try (Stream<Path> found = Files.list(root)) {
            return found.sorted().toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new CommandFailure(root + ": " + CommandFailure.reason(e), e);
        }
    }
}
