package io.afterbay.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code afterbay bench recovery}. */
@Command(
        name = "recovery",
        description = {
            "How long a job stands still after its TaskManager was killed, as the state grows.",
            "",
            "A job that updates keyed values at --rate runs on a TaskManager in a process of its"
                    + " own. When checkpoints have all of the state, the process is killed"
                    + " (SIGKILL), and another one is started in its working directory. Measured"
                    + " is, from when the JobManager deploys the tasks again, the time until all"
                    + " instances have their state, have processed an event, and have caught up;"
                    + " so the start of the JVM is left out. There is one instance, unless"
                    + " --parallelism says otherwise. Counts are compared with those computed"
                    + " without an engine. The checkpoint storage is a local directory: remote is"
                    + " without a network, and files may stay in the page cache.",
            "",
            "Runs are appended to bench/results/recovery.jsonl round by round. Rounds that are there"
                    + " for this revision are left out, so the experiment can be stopped and"
                    + " continued.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench recovery --quick",
            "  ./afterbay bench recovery --sizes 256m,1g --pairs 3",
            "  ./afterbay bench recovery --sizes 4g --recovery local --backends afterbay",
            "",
            "Exit codes: 0 done, 1 a run failed, counts were wrong or state did not come from where",
            "it should, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
final class BenchRecoveryCommand implements Callable<Integer> {
    private static final String QUICK_SIZES = "64m";
    private static final String FULL_SIZES = "256m,1g,4g";
    private static final Duration QUICK_INTERVAL = Duration.ofSeconds(1);

    @Option(
            names = "--sizes",
            paramLabel = "LIST",
            split = ",",
            converter = ByteSize.Converter.class,
            description = "Sizes of the state (default: " + FULL_SIZES + "; quick: 64m).")
    private List<ByteSize> sizes = List.of();

    @Option(
            names = "--recovery",
            paramLabel = "LIST",
            split = ",",
            defaultValue = "local,remote",
            description =
                    "local: local recovery is on; remote: it is off, and state comes from the"
                            + " checkpoint storage (default: ${DEFAULT-VALUE}).")
    private List<String> recovery = List.of();

    @Mixin private final TrialArguments arguments = new TrialArguments();
    @Mixin private final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = Afterbay.commandOf(spec);
        parallelism(command);
        if (WorkDirectory.ofWorker().isPresent()) {
            return new RecoveryWorker(engine, command).run();
        }
        arguments.check(command);
        StateSizes.check(command, stateMib());
        engine.checkInterval(command);
        return new TrialExperiment<>(
                        new RecoveryKind(rounds(command)),
                        arguments,
                        engine,
                        MemorySplit.OF_JOB_MANAGER,
                        command)
                .run();
    }

    /** A TaskManager of Flink 2.3 that is started again knows one of the slots that it had. */
    private void parallelism(CommandLine command) {
        if (!command.getParseResult().hasMatchedOption("--parallelism")) {
            engine.parallelism = 1;
        } else if (engine.parallelism > 1 && recovery.contains("local")) {
            throw new ParameterException(
                    command,
                    ("--parallelism %d: a TaskManager that is started again recovers the state of one"
                                    + " slot from its disk; use 1, or --recovery remote")
                            .formatted(engine.parallelism));
        }
    }

    private List<Long> stateMib() {
        return StateSizes.mebibytes(sizes, arguments.quick, QUICK_SIZES, FULL_SIZES);
    }

    private Duration interval(CommandLine command) {
        Duration interval =
                arguments.quick
                                && !command.getParseResult()
                                        .hasMatchedOption("--checkpoint-interval")
                        ? QUICK_INTERVAL
                        : engine.checkpointInterval;
        if (interval.isZero()) {
            throw new ParameterException(
                    command, "--checkpoint-interval off: there is nothing to recover from");
        }
        return interval;
    }

    private static boolean isLocal(CommandLine command, String name) {
        return switch (name) {
            case "local" -> true;
            case "remote" -> false;
            default ->
                    throw new ParameterException(
                            command, "--recovery '%s': use local or remote".formatted(name));
        };
    }

    /** One for each pair of a size. */
    private List<List<RecoveryPlan>> rounds(CommandLine command) {
        List<List<RecoveryPlan>> rounds = new ArrayList<>();
        for (long size : stateMib()) {
            for (int pair = 1; pair <= arguments.pairs(); pair++) {
                rounds.add(round(command, size, pair));
            }
        }
        return rounds;
    }

    private List<RecoveryPlan> round(CommandLine command, long stateMib, int pair) {
        List<RecoveryPlan> round = new ArrayList<>();
        for (String name : recovery) {
            for (Backend backend : arguments.backends) {
                round.add(
                        new RecoveryPlan(
                                backend.name(),
                                pair,
                                stateMib,
                                arguments.valueBytes,
                                isLocal(command, name),
                                interval(command).toMillis(),
                                arguments.rate()));
            }
        }
        return round;
    }
}
