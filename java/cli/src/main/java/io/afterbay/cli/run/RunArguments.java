package io.afterbay.cli.run;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.engine.StoragePath;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of {@code afterbay run}, the same for every job. */
final class RunArguments extends EngineArguments {
    /** A storage that is away for a while costs checkpoints, and not the job. */
    private static final int FAILED_CHECKPOINTS_IN_A_ROW_MAX = 1000;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the summary as JSON to this file (fields: docs/run.md).")
    @Nullable Path json;

    @Option(
            names = "--on",
            paramLabel = "HOST:PORT",
            converter = ClusterAddress.Converter.class,
            description =
                    "Run on this Flink cluster instead: the REST address of its JobManager. Files are"
                            + " those that its machines see; checkpoints are as the cluster says,"
                            + " unless --checkpoint-interval is given.")
    @Nullable ClusterAddress on;

    @Option(
            names = "--checkpoint-dir",
            paramLabel = "URI",
            description =
                    "Where checkpoints go: a directory, or s3://BUCKET/PATH (docs/run.md). They stay"
                            + " there when the run is interrupted or killed, and one that cannot be"
                            + " written does not fail the job (default: in --work-dir).")
    @Nullable String checkpointDirectory;

    @Option(
            names = "--from",
            paramLabel = "URI",
            description =
                    "Start from this checkpoint or savepoint, or from the newest complete checkpoint"
                            + " below this directory.")
    @Nullable String from;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            converter = Backend.Converter.class,
            defaultValue = "afterbay",
            description =
                    "State backend: afterbay, rocksdb, rocksdb-heap-timers, hashmap, or the class"
                            + " name of a StateBackendFactory on the class path (default:"
                            + " ${DEFAULT-VALUE}).")
    void setBackend(Backend backend) {
        this.backend = backend;
    }

    /** On a cluster, that of the client. */
    @Override
    public MemorySplit memorySplit(CommandLine command) {
        if (on == null) {
            return super.memorySplit(command);
        }
        for (String option : List.of("--memory", "--work-dir", "--checkpoint-dir", "--from")) {
            if (command.getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        command, option + " has no meaning with --on: the cluster decides");
            }
        }
        checkCommon(command);
        return MemorySplit.OF_CLIENT;
    }

    /**
     * Refuses, on a cluster, an option that needs what only this process has.
     *
     * @param option what it does, with its name
     */
    void refuseOn(CommandLine command, String option) {
        if (on != null) {
            throw new ParameterException(
                    command, option + " of this machine, which a cluster does not; leave out --on");
        }
    }

    /** Checks what only a run has. */
    void checkCheckpoints(CommandLine command) {
        checkInterval(command);
        checkUri(command, "--checkpoint-dir", checkpointDirectory);
        checkUri(command, "--from", from);
        if (checkpointDirectory != null && checkpointInterval.isZero()) {
            throw new ParameterException(
                    command, "--checkpoint-dir needs checkpoints; give a --checkpoint-interval");
        }
    }

    private static void checkUri(CommandLine command, String option, @Nullable String uri) {
        try {
            if (uri != null) {
                StoragePath.uri(uri);
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    command, "%s %s: %s".formatted(option, uri, CommandFailure.reason(e)));
        }
    }

    /** Those in another place than the working directory outlive the run. */
    @Override
    public void checkpoints(Configuration settings, Path directory) {
        if (checkpointDirectory == null) {
            super.checkpoints(settings, directory);
            return;
        }
        settings.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                StoragePath.uri(checkpointDirectory).toString());
        settings.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        settings.set(
                CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, FAILED_CHECKPOINTS_IN_A_ROW_MAX);
    }

    /** The interval that was asked for; on a cluster, it has its own otherwise. */
    Optional<Duration> chosenInterval(CommandLine command) {
        return command.getParseResult().hasMatchedOption("--checkpoint-interval")
                ? Optional.of(checkpointInterval)
                : Optional.empty();
    }
}
