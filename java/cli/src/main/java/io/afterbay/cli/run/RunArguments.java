package io.afterbay.cli.run;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.engine.StoragePath;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.util.List;
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
    private Backend backend = Backend.AFTERBAY;

    /** Wrong options are the command's usage errors. On a cluster, with the client's memory. */
    EngineSettings settings(CommandLine command) {
        EngineOptions options = options();
        if (on == null) {
            checkProperties(command);
            EngineSettings settings = options.settings(command, backend);
            return checkpointDirectory == null
                    ? settings
                    : settings.keepingCheckpoints(checkpointDirectory);
        }
        for (String option : List.of("--memory", "--work-dir", "--checkpoint-dir", "--from")) {
            if (command.getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        command, option + " has no meaning with --on: the cluster decides");
            }
        }
        checkProperties(command);
        options.checkParallelism(command);
        return options.settings(backend, MemorySplit.OF_CLIENT);
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
        options().checkInterval(command);
        checkUri(command, "--checkpoint-dir", checkpointDirectory);
        checkUri(command, "--from", from);
        if (checkpointDirectory != null && options().checkpointInterval().isZero()) {
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

    /** What the worker is told, beside the engine's settings. */
    RunPlan plan(CommandLine command, JobPlan job) {
        boolean isIntervalChosen =
                command.getParseResult().hasMatchedOption("--checkpoint-interval");
        return new RunPlan(
                command.getCommandSpec().qualifiedName(),
                job,
                json == null ? null : json.toString(),
                from,
                on,
                isIntervalChosen ? options().checkpointInterval().toMillis() : null);
    }
}
