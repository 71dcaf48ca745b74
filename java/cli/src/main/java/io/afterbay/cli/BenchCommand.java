package io.afterbay.cli;

import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay bench EXPERIMENT}. */
@Command(
        name = "bench",
        description = "Run an experiment: runs that are recorded in bench/results.",
        subcommands = {
            BenchNexmarkCommand.class,
            BenchSqlCommand.class,
            BenchCheckpointsCommand.class,
            BenchLatencyCommand.class,
            BenchSweepCommand.class,
            BenchRecoveryCommand.class,
            BenchDesyncCommand.class,
            BenchSparkCommand.class,
            BenchBlobCommand.class
        },
        mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "an experiment");
    }
}
