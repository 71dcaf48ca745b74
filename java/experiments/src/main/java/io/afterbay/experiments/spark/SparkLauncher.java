package io.afterbay.experiments.spark;

import io.afterbay.cli.process.ModuleClassPath;
import io.afterbay.cli.process.Versions;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the program of the module {@code spark-workloads} is started. It has a process of its own:
 * Flink's RocksDB (on the class path of this one) and Spark's are two versions of the same classes.
 */
final class SparkLauncher {
    private static final String PROGRAM = "io.afterbay.spark.workloads.MicroBatchWorker";
    private static final ByteSize HEAP = ByteSize.parse("2g");

    private SparkLauncher() {}

    /** What it has if the user does not say. */
    static ByteSize heap(@Nullable ByteSize wanted) {
        return wanted == null ? HEAP : wanted;
    }

    /**
     * A process that hands over by a directory.
     *
     * @param temporary directory for what its libraries unpack
     * @param verbose whether Spark's log goes where this process writes errors, rather than to the
     *     file
     * @throws CommandFailure if its libraries are not there
     */
    static ProcessBuilder builder(
            ByteSize heap, Path directory, Path temporary, boolean verbose, Path log)
            throws CommandFailure {
        List<String> ours = new ArrayList<>();
        ours.add("-Xmx" + heap.mebibytes() + "m");
        ours.add("-XX:+ExitOnOutOfMemoryError");
        ours.addAll(Arrays.asList(Versions.sparkFlags().split(" ", -1)));
        List<String> command = WorkerJvm.command(ours);
        command.add("-Djava.io.tmpdir=" + temporary);
        command.add("-Dafterbay.log.spark=" + (verbose ? "info" : "error"));
        command.addAll(List.of("-cp", new ModuleClassPath("spark-workloads").read()));
        command.addAll(List.of(PROGRAM, directory.toString()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        return builder.redirectError(
                verbose
                        ? ProcessBuilder.Redirect.INHERIT
                        : ProcessBuilder.Redirect.to(log.toFile()));
    }
}
