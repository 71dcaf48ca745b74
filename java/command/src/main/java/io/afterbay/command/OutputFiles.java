package io.afterbay.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks, before anything runs, that files can be written and do not overwrite each other. */
public final class OutputFiles {
    private final Map<Path, String> taken = new HashMap<>();

    /** For a job without an input file. */
    public OutputFiles() {}

    public OutputFiles(String input) {
        taken.put(identity(Path.of(input)), "--input");
    }

    public void check(String option, @Nullable Path file) throws CommandFailure {
        if (file == null) {
            return;
        }
        String other = isDevice(file) ? null : taken.put(identity(file), option);
        if (other != null) {
            throw failure(option, file, "is also the file of " + other + "; choose another");
        }
        if (Files.isDirectory(file)) {
            throw failure(option, file, "is a directory; name a file in it");
        }
        checkWritable(option, file);
    }

    private static void checkWritable(String option, Path file) throws CommandFailure {
        Path directory = directoryOf(file);
        if (!Files.isDirectory(directory)) {
            throw failure(option, file, "there is no directory " + directory + "; create it first");
        }
        if (!Files.isWritable(Files.exists(file) ? file : directory)) {
            throw failure(option, file, "permission denied; choose another place");
        }
    }

    private static Path directoryOf(Path file) {
        Path directory = file.toAbsolutePath().getParent();
        return directory == null ? file.toAbsolutePath() : directory;
    }

    private static boolean isDevice(Path file) {
        return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
    }

    /** The same for two names of one file. */
    private static Path identity(Path file) {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            return file.toAbsolutePath().normalize();
        }
    }

    private static CommandFailure failure(String option, Path file, String problem) {
        return new CommandFailure(option + " " + file + ": " + problem);
    }
}
