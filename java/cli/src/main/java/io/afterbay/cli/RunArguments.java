package io.afterbay.cli;

import io.afterbay.cli.remote.ClusterAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of {@code afterbay run}, the same for every job. */
final class RunArguments extends EngineArguments {
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
    MemorySplit memorySplit(CommandLine command) {
        if (on == null) {
            return super.memorySplit(command);
        }
        for (String option : List.of("--memory", "--work-dir")) {
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

    /** The interval that was asked for; on a cluster, it has its own otherwise. */
    Optional<Duration> chosenInterval(CommandLine command) {
        return command.getParseResult().hasMatchedOption("--checkpoint-interval")
                ? Optional.of(checkpointInterval)
                : Optional.empty();
    }
}
