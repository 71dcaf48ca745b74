package io.afterbay.edge.lines;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file that somebody writes while others read it.
 *
 * <pre>
 *   FILE           lines, each with its \n
 *   FILE.end       there is nothing more to come: it appears behind the last byte
 * </pre>
 *
 * @param committed a file with the number of bytes of FILE that stay whatever happens to its
 *     writer, as digits; null where all of them do
 */
public record GrowingFile(Path file, @Nullable Path committed) {
    /** Says by being there that a file does not grow any more. */
    public static Path endOf(Path file) {
        return file.resolveSibling(file.getFileName() + ".end");
    }

    boolean isComplete() {
        return Files.exists(endOf(file));
    }
}
