package io.afterbay.experiments.recovery;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.ByteSize;
import io.afterbay.experiments.StateSizes;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.UpdateArguments;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

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
                    + " --killed or --parallelism says otherwise. Counts are compared with those computed"
                    + " without an engine. The checkpoint storage is a local directory: remote is"
                    + " without a network, and files may stay in the page cache.",
            "",
            "Runs are appended to bench/results/recovery.jsonl round by round. Rounds that are there"
                    + " for this revision, as long and with as much memory, are left out, so the experiment can be stopped and"
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
            "  ./afterbay bench recovery --sizes 1g --killed 6%%,50%%",
            "",
            "Exit codes: 0 done, 1 a run failed, counts were wrong or state did not come from where",
            "it should, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchRecoveryCommand extends TrialCommand<RecoveryPlan, RecoveryTrial> {
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

    @Option(
            names = "--killed",
            paramLabel = "LIST",
            split = ",",
            converter = KilledShare.Converter.class,
            description =
                    "Shares of the tasks whose TaskManager is killed (default: 6%%,50%%,100%%; quick:"
                            + " 100%%). 100%%: all tasks are in it. Else it has one task, and a"
                            + " second TaskManager, which goes on, the others: one of two for 50%%,"
                            + " one of 16 for 6%%. The job restarts as a whole either way. --memory"
                            + " is that of each TaskManager, but the tasks share the part that is for"
                            + " state.")
    private List<KilledShare> killed = List.of();

    @Mixin private final UpdateArguments updates = new UpdateArguments();

    @Override
    protected TrialKind<RecoveryPlan, RecoveryTrial> kind(CommandLine command) {
        return new RecoveryKind(rounds(command));
    }

    /** The worker is the JobManager; the memory is that of each TaskManager. */
    @Override
    protected MemorySplit memoryOfWorker() {
        return MemorySplit.OF_JOB_MANAGER;
    }

    @Override
    protected void check(CommandLine command) {
        updates.check(command);
        checkParallelism(command);
        StateSizes.check(command, stateMib());
        engine().checkInterval(command);
    }

    /** A TaskManager of Flink 2.3 that is started again knows one of the slots that it had. */
    private void checkParallelism(CommandLine command) {
        if (!isGiven(command)) {
            return;
        }
        if (!killed(command).equals(List.of(KilledShare.ALL))) {
            throw new ParameterException(
                    command, "--parallelism: only with --killed 100%; other shares decide it");
        } else if (parallelism(command) > 1 && recovery.contains("local")) {
            throw new ParameterException(
                    command,
                    ("--parallelism %d: a TaskManager that is started again recovers the state of one"
                                    + " slot from its disk; use 1, or --recovery remote")
                            .formatted(parallelism(command)));
        }
    }

    private int parallelism(CommandLine command) {
        return isGiven(command) ? engine().parallelism() : 1;
    }

    private static boolean isGiven(CommandLine command) {
        return command.getParseResult().hasMatchedOption("--parallelism");
    }

    private List<KilledShare> killed(CommandLine command) {
        if (!killed.isEmpty()) {
            return killed;
        }
        return arguments.quick || isGiven(command)
                ? List.of(KilledShare.ALL)
                : List.of(new KilledShare(6), new KilledShare(50), KilledShare.ALL);
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
                        : engine().checkpointInterval();
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

    /** One for each pair of a size and share. */
    private List<List<RecoveryPlan>> rounds(CommandLine command) {
        List<List<RecoveryPlan>> rounds = new ArrayList<>();
        for (long size : stateMib()) {
            for (KilledShare share : killed(command)) {
                for (int pair = 1; pair <= arguments.pairs(); pair++) {
                    rounds.add(round(command, size, share, pair));
                }
            }
        }
        return rounds;
    }

    private List<RecoveryPlan> round(
            CommandLine command, long stateMib, KilledShare share, int pair) {
        List<RecoveryPlan> round = new ArrayList<>();
        for (String name : recovery) {
            for (Backend backend : arguments.backends) {
                round.add(
                        new RecoveryPlan(
                                backend.name(),
                                pair,
                                stateMib,
                                share.percent(),
                                share.instances(parallelism(command)),
                                updates.valueBytes,
                                isLocal(command, name),
                                interval(command).toMillis(),
                                updates.rate(arguments.quick)));
            }
        }
        return round;
    }
}
