package io.afterbay.cli.replay;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.engine.StoragePath;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.replay.live.LiveAddress;
import io.afterbay.cli.replay.live.LiveJob;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.cli.run.RunPlan;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandText;
import io.afterbay.command.OutputFiles;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.apache.flink.configuration.ExecutionOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of a replay, the same for every job. */
final class ReplayArguments extends EngineArguments {
    /** In a batch there are no checkpoints, and all sources of a replay end. */
    private static final Map<String, String> STREAMING =
            Map.of(ExecutionOptions.RUNTIME_MODE.key(), "STREAMING");

    private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    @Option(
            names = "--from",
            paramLabel = "T",
            required = true,
            converter = Moment.class,
            description = "Records from this time on: " + Moment.FORMS + ".")
    private @Nullable Instant from;

    @Option(
            names = "--to",
            paramLabel = "T",
            converter = Moment.class,
            defaultValue = "now",
            description = "Records before this time (default: now, when the replay begins).")
    private @Nullable Instant to;

    @Option(
            names = "--rate",
            paramLabel = "N",
            converter = RateChoice.Converter.class,
            defaultValue = "max",
            description =
                    "Records per second, of all sources' tasks together, or max, or adaptive: as much"
                            + " as leaves the live job's P99 and the lag of its sources within 1.1 of"
                            + " what they were before (needs --live). 'replay rate ID N' changes it"
                            + " (default: ${DEFAULT-VALUE}).")
    private RateChoice rate = new RateChoice(Rate.MAX, false);

    @Option(
            names = "--on",
            paramLabel = "HOST:PORT",
            converter = ClusterAddress.Converter.class,
            description =
                    "Send the replay's job to this Flink cluster: the REST address of its JobManager."
                            + " Its machines must see what --checkpoint-dir says, or the replay's own"
                            + " directory.")
    private @Nullable ClusterAddress on;

    @Option(
            names = "--checkpoint-dir",
            paramLabel = "URI",
            description =
                    "With --on: where the replay has its checkpoints, and is told its rate: a"
                            + " directory, or s3://BUCKET/PATH, that the cluster and this machine both"
                            + " reach (default: the replay's own directory, see --dir).")
    private @Nullable String checkpointDirectory;

    @Option(
            names = "--from-savepoint",
            paramLabel = "URI",
            description =
                    "Begin with the state of this savepoint or checkpoint of the live job; its"
                            + " positions are not used (default: begin empty).")
    private @Nullable String fromSavepoint;

    @Option(
            names = "--live",
            paramLabel = "[HOST:PORT/]JOBID",
            converter = LiveAddress.Converter.class,
            description =
                    "The live job: its identifier, and the REST address of the JobManager of its"
                            + " cluster (default: that of --on).")
    private @Nullable LiveAddress live;

    @Option(
            names = "--id",
            paramLabel = "NAME",
            description = "Names the replay for status, rate, pause, resume, cancel and remove.")
    private @Nullable String id;

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Option(
            names = "--nice",
            paramLabel = "N",
            converter = Nice.class,
            defaultValue = Nice.DEFAULT,
            description =
                    "How much its process leaves to others that want the CPU, from 0 (it is like them;"
                            + " the weights of its cgroup stay, too) to 19, as 'nice -n N'. 'resume'"
                            + " keeps it. Without --on (default: ${DEFAULT-VALUE}).")
    private int nice;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            converter = Backend.Converter.class,
            defaultValue = "afterbay",
            description = "State backend, as for 'run' (default: ${DEFAULT-VALUE}).")
    private Backend backend = Backend.AFTERBAY;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write the report as JSON to this file (fields: docs/run.md and docs/replay.md).")
    private @Nullable Path json;

    /** The same beside the live job, with an output of its own. */
    int run(CommandLine command, String name, JobPlan job, OutputFiles files)
            throws CommandFailure, InterruptedException {
        return run(command, name, job, null, false, files);
    }

    /**
     * Begins a replay, and waits for its end.
     *
     * @param name for its identifier
     * @param merge of its rows with those of the live job, or null
     * @param isBlocking whether the live job is stopped for it
     * @param files that the job writes
     */
    int run(
            CommandLine command,
            String name,
            JobPlan job,
            ReplayPlan.@Nullable Merge merge,
            boolean isBlocking,
            OutputFiles files)
            throws CommandFailure, InterruptedException {
        checkProperties(command);
        EngineSettings engine = settings(command).withDefaults(STREAMING);
        options().checkInterval(command);
        checkCheckpointDirectory(command);
        checkBlocking(command, isBlocking);
        checkLive(command);
        files.check("--json", json);
        ReplayPlan plan = plan(command, name, job, merge, isBlocking);
        ReplayDirectory directory = ReplayDirectory.create(place.root(), plan, engine, rate);
        return ReplayProcess.run(directory, plan);
    }

    private EngineSettings settings(CommandLine command) {
        if (on == null) {
            return options().settings(command, backend);
        }
        for (String option : List.of("--memory", "--work-dir", "--nice")) {
            if (command.getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        command, option + " has no meaning with --on: the cluster decides");
            }
        }
        options().checkParallelism(command);
        return options().settings(backend, MemorySplit.OF_CLIENT);
    }

    private void checkBlocking(CommandLine command, boolean isBlocking) {
        if (!isBlocking) {
            return;
        }
        if (on == null || live == null || !on.equals(live.on(on).cluster())) {
            throw new ParameterException(
                    command,
                    "--mode blocking stops the live job and starts it again: name its cluster with --on HOST:PORT, and it with --live JOBID");
        }
        if (rate.isAdaptive()) {
            throw new ParameterException(
                    command,
                    "--rate adaptive follows the live job, and --mode blocking stops it: use max, or records per second");
        }
    }

    private void checkCheckpointDirectory(CommandLine command) {
        checkUri(command, "--from-savepoint", fromSavepoint);
        checkUri(command, "--checkpoint-dir", checkpointDirectory);
        if (checkpointDirectory != null && on == null) {
            throw new ParameterException(
                    command,
                    "--checkpoint-dir is for --on; a replay of this machine has its checkpoints in --dir");
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

    private void checkLive(CommandLine command) throws CommandFailure, InterruptedException {
        if (rate.isAdaptive() && live == null) {
            throw new ParameterException(
                    command,
                    "--rate adaptive follows the live job: name it with --live JOBID, or --live HOST:PORT/JOBID if it is not at --on");
        }
        if (live != null) {
            live = on == null ? live : live.on(on);
            if (live.cluster() == null) {
                throw new ParameterException(
                        command,
                        "--live %s: say where it is, by --live HOST:PORT/%s, or by --on"
                                .formatted(live.jobId(), live.jobId()));
            }
            new LiveJob(live).requireRunning();
        }
    }

    private ReplayPlan plan(
            CommandLine command,
            String name,
            JobPlan job,
            ReplayPlan.@Nullable Merge merge,
            boolean isBlocking) {
        Path parent = options().workDirectory();
        Instant first = Objects.requireNonNull(from);
        Instant end = Objects.requireNonNull(to);
        if (!first.isBefore(end)) {
            throw new ParameterException(
                    command,
                    "the range is empty: --from %s is not before --to %s".formatted(first, end));
        }
        if (options().checkpointInterval().isZero()) {
            throw new ParameterException(
                    command, "a replay goes on by its checkpoints: give a --checkpoint-interval");
        }
        return new ReplayPlan(
                identifier(command, name),
                CommandText.of(
                        command.getCommandSpec()
                                .root()
                                .commandLine()
                                .getParseResult()
                                .originalArgs()),
                new RunPlan(
                        command.getCommandSpec().qualifiedName(),
                        job,
                        json == null ? null : json.toString(),
                        fromSavepoint,
                        on,
                        options().checkpointInterval().toMillis()),
                first.toEpochMilli(),
                end.toEpochMilli(),
                merge,
                isBlocking,
                fromSavepoint,
                live,
                checkpointDirectory,
                on == null ? nice : null,
                Path.of("").toAbsolutePath().toString(),
                parent == null ? null : parent.toAbsolutePath().toString());
    }

    private String identifier(CommandLine command, String name) {
        String chosen =
                id != null
                        ? id
                        : name.replaceAll("[^A-Za-z0-9._-]", "-")
                                + "-"
                                + Instant.now().toString().replaceAll("[-:]|\\.\\d+", "");
        if (!ID.matcher(chosen).matches()) {
            throw new ParameterException(
                    command, "--id %s: use letters, digits, '.', '_' and '-'".formatted(chosen));
        }
        return chosen;
    }
}
