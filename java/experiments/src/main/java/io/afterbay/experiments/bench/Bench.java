package io.afterbay.experiments.bench;

import io.afterbay.command.CommandLines;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.blob.BenchBlobCommand;
import io.afterbay.experiments.blobcluster.BenchBlobClusterCommand;
import io.afterbay.experiments.checkpoints.BenchCheckpointsCommand;
import io.afterbay.experiments.desync.BenchDesyncCommand;
import io.afterbay.experiments.edge.BenchEdgeCommand;
import io.afterbay.experiments.net.BenchNetCommand;
import io.afterbay.experiments.nexmark.BenchNexmarkCommand;
import io.afterbay.experiments.nexmark.BenchSqlCommand;
import io.afterbay.experiments.queries.BenchLatencyCommand;
import io.afterbay.experiments.queries.BenchSweepCommand;
import io.afterbay.experiments.recovery.BenchRecoveryCommand;
import io.afterbay.experiments.replay.BenchReplayCommand;
import io.afterbay.experiments.spark.BenchSparkCommand;
import io.afterbay.experiments.storm.BenchStormCommand;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay bench EXPERIMENT}: the command line. */
@Command(
        name = "afterbay bench",
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
            BenchBlobCommand.class,
            BenchBlobClusterCommand.class,
            BenchNetCommand.class,
            BenchEdgeCommand.class,
            BenchStormCommand.class,
            BenchReplayCommand.class
        },
        mixinStandardHelpOptions = true)
public final class Bench implements Callable<Integer> {

    @Spec private @Nullable CommandSpec spec;

    private Bench() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** As users type it, without the name. */
    public static CommandLine commandLine() {
        return TrialCommand.withoutNeedless(CommandLines.of(new Bench()));
    }

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "an experiment");
    }
}
