package io.afterbay.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a process has said that failed. */
public final class WorkerLog {
    private WorkerLog() {}

    /** The end of a message about a worker that failed: what its log says last. */
    public static String lastWords(Path log) {
        try {
            return Files.readAllLines(log, StandardCharsets.ISO_8859_1).stream()
                    .filter(line -> !line.isBlank())
                    .reduce((first, second) -> second)
                    .map(line -> ": " + line)
                    .orElse("; run again with --verbose for its log");
        } catch (IOException e) {
            return "";
        }
    }
}
