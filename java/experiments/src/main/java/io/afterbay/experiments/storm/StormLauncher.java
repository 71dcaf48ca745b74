package io.afterbay.experiments.storm;

import io.afterbay.cli.process.ModuleClassPath;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How the program of the module {@code storm-workloads} is started. It has a process of its own:
 * Storm's libraries are other versions of what is on the class path of this one.
 */
final class StormLauncher {
    static final String HEAP = "512m";

    private static final String PROGRAM = "io.afterbay.storm.workloads.TrialWorker";

    private StormLauncher() {}

    /**
     * A process that hands over by a directory.
     *
     * @param temporary directory, where Storm makes its own
     * @param verbose whether Storm's log goes where this process writes errors, rather than to the
     *     file
     * @throws CommandFailure if its libraries are not there
     */
    static ProcessBuilder builder(Path directory, Path temporary, boolean verbose, Path log)
            throws CommandFailure {
        List<String> command =
                new ArrayList<>(
                        WorkerJvm.command(List.of("-Xmx" + HEAP, "-XX:+ExitOnOutOfMemoryError")));
        command.add("-Djava.io.tmpdir=" + temporary);
        command.add("-Dafterbay.log.storm=" + (verbose ? "info" : "error"));
        command.addAll(List.of("-cp", new ModuleClassPath("storm-workloads").read()));
        command.addAll(List.of(PROGRAM, directory.toString()));
        return new ProcessBuilder(command)
                .redirectError(
                        verbose
                                ? ProcessBuilder.Redirect.INHERIT
                                : ProcessBuilder.Redirect.to(log.toFile()));
    }
}
