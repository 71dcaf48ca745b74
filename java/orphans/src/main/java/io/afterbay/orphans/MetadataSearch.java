package io.afterbay.orphans;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.core.fs.Path;

/**
 * Finds the {@code _metadata} of checkpoints and savepoints: in a directory, in those below it, and
 * in those below these, which is as deep as Flink puts them.
 */
final class MetadataSearch {
    private static final int DEPTH_MAX = 2;

    private final Consumer<Problem> problems;
    private final List<Path> found = new ArrayList<>();
    private final List<Path> links = new ArrayList<>();

    private MetadataSearch(Consumer<Problem> problems) {
        this.problems = problems;
    }

    /**
     * All below some directories; one may also be a {@code _metadata} itself.
     *
     * @param problems takes what could not be looked at
     */
    static List<Path> below(List<Path> roots, Consumer<Problem> problems) {
        MetadataSearch search = new MetadataSearch(problems);
        for (Path root : roots) {
            if (root.getName().equals(JobLayout.METADATA)) {
                search.found.add(root);
            } else {
                search.directory(root, 0);
            }
        }
        search.links.forEach(link -> search.checkLink(link, roots));
        return search.found;
    }

    private void directory(Path directory, int depth) {
        try {
            for (Storage.Entry entry : Storage.list(directory)) {
                entry(entry, depth);
            }
        } catch (FileNotFoundException e) {
            // It was deleted meanwhile, unless it is the one that was asked for.
            if (depth == 0) {
                problems.accept(new Problem(directory, Problem.reason(e)));
            }
        } catch (IOException e) {
            problems.accept(new Problem(directory, "checkpoints may be there: " + e.getMessage()));
        }
    }

    private void entry(Storage.Entry entry, int depth) {
        if (entry.isLink()) {
            if (entry.isDirectory() || entry.name().equals(JobLayout.METADATA)) {
                links.add(entry.path());
            }
        } else if (entry.isDirectory()) {
            if (depth < DEPTH_MAX && !JobLayout.isOfState(entry.name())) {
                directory(entry.path(), depth + 1);
            }
        } else if (entry.name().equals(JobLayout.METADATA)) {
            found.add(entry.path());
        }
    }

    /** A link to what is looked at anyway is none of our business. */
    private void checkLink(Path link, List<Path> roots) {
        try {
            String target = Storage.target(link).getPath() + Path.SEPARATOR;
            if (roots.stream().noneMatch(root -> target.startsWith(directoryOf(root)))) {
                problems.accept(
                        new Problem(
                                link,
                                "a symbolic link, which is not followed; if checkpoints are there,"
                                        + " name its target with --referenced-from "
                                        + target
                                        + ", else remove the link"));
            }
        } catch (IOException e) {
            problems.accept(new Problem(link, "a symbolic link that leads nowhere; remove it"));
        }
    }

    private static String directoryOf(Path root) {
        Path directory = root.getName().equals(JobLayout.METADATA) ? root.getParent() : root;
        return directory.getPath() + Path.SEPARATOR;
    }
}
