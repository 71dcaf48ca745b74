package io.afterbay.experiments.blob;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import io.afterbay.experiments.RustPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ceph's s3-tests: a script of the project runs them on the S3 endpoint of the blob store.
 *
 * @param checkout of s3-tests
 * @param caseName only cases whose names contain it, or null
 * @param report file for the result of each case, or null
 */
record S3Tests(Path checkout, @Nullable String caseName, @Nullable Path report) {
    private static final Path SCRIPT = Path.of("bench", "s3-tests.sh");

    /**
     * The script's exit code.
     *
     * @throws CommandFailure if there is nothing to run
     */
    int run() throws CommandFailure, InterruptedException {
        Path script = Installation.home().resolve(SCRIPT).toAbsolutePath().normalize();
        if (!Files.isExecutable(script)) {
            throw new CommandFailure("--s3-tests: not run, this version has no " + SCRIPT);
        }
        try {
            ProcessBuilder builder = new ProcessBuilder(command(script)).inheritIO();
            builder.environment().put("CARGO", RustPrograms.cargo());
            return builder.start().waitFor();
        } catch (IOException e) {
            throw new CommandFailure("--s3-tests: " + CommandFailure.reason(e), e);
        }
    }

    List<String> command(Path script) {
        List<String> command =
                new ArrayList<>(List.of(script.toString(), "--s3-tests", checkout.toString()));
        if (caseName != null) {
            command.addAll(List.of("--case", caseName));
        }
        if (report != null) {
            command.addAll(List.of("--report", report.toString()));
        }
        return command;
    }
}
