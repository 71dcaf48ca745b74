package io.afterbay.experiments.checkpoints;

import io.afterbay.cli.engine.Backend;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.experiments.StateSizes;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.UpdateArguments;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench checkpoints}. */
@Command(
        name = "checkpoints",
        description = {
            "What checkpoints cost, and how long they take as the state grows.",
            "",
            "A job that updates keyed values runs with checkpoints off and at intervals. Each run is"
                    + " a process: it builds the state, runs at full speed for --warmup and then for"
                    + " --closed (throughput, against off of the same backend), and at --rate"
                    + " updates per second for --open (durations and bytes of checkpoints). Counts"
                    + " are compared with those computed without an engine. Checkpoints go to a"
                    + " local directory, and its files may stay in the page cache.",
            "",
            "Runs are appended to bench/results/checkpoints.jsonl round by round. Rounds that are"
                    + " there for this revision, as long and with as much memory, are left out, so the experiment can be stopped and"
                    + " continued.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench checkpoints --quick",
            "  ./afterbay bench checkpoints --pairs 3 --warmup 20s",
            "  ./afterbay bench checkpoints --sizes 1g,20g --intervals 10s --memory 8g --pairs 1",
            "",
            "Exit codes: 0 done, 1 a run failed, counts were wrong or checkpoints were not as",
            "configured, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchCheckpointsCommand extends TrialCommand<CheckpointPlan, CheckpointTrial> {
    private static final String QUICK_SIZES = "64m";
    private static final String FULL_SIZES = "1g,4g";

    @Option(
            names = "--sizes",
            paramLabel = "LIST",
            split = ",",
            converter = ByteSize.Converter.class,
            description = "Sizes of the state (default: " + FULL_SIZES + "; quick: 64m).")
    private List<ByteSize> sizes = List.of();

    @Option(
            names = "--intervals",
            paramLabel = "LIST",
            split = ",",
            converter = Durations.class,
            description = "Times between checkpoints, or off (default: off,10s,1s; quick: off,1s).")
    private List<Duration> intervals = List.of();

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long each run goes at full speed with all of its state before anything"
                            + " counts, until a checkpoint at least (default: 30s; quick: 2s).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--closed",
            paramLabel = "D",
            converter = Durations.class,
            description = "Counted time at full speed (default: 60s; quick: 4s).")
    private @Nullable Duration closed;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description = "Counted time at the fixed rate (default: 120s; quick: 5s).")
    private @Nullable Duration open;

    @Mixin private final UpdateArguments updates = new UpdateArguments();

    @Override
    protected TrialKind<CheckpointPlan, CheckpointTrial> kind(CommandLine command) {
        return new CheckpointKind(rounds());
    }

    @Override
    protected void check(CommandLine command) {
        updates.check(command);
        StateSizes.check(command, stateMib());
        if (command.getParseResult().hasMatchedOption("--checkpoint-interval")) {
            throw new ParameterException(command, "--checkpoint-interval: use --intervals instead");
        }
        for (Duration interval : intervals()) {
            engine().withCheckpointInterval(interval).checkInterval(command);
        }
    }

    private List<Long> stateMib() {
        return StateSizes.mebibytes(sizes, arguments.quick, QUICK_SIZES, FULL_SIZES);
    }

    private List<Duration> intervals() {
        if (!intervals.isEmpty()) {
            return intervals;
        }
        Duration second = Duration.ofSeconds(1);
        return arguments.quick
                ? List.of(Duration.ZERO, second)
                : List.of(Duration.ZERO, Duration.ofSeconds(10), second);
    }

    /** One for each pair of a size. What is compared, the intervals of a backend, runs in a row. */
    private List<List<CheckpointPlan>> rounds() {
        List<List<CheckpointPlan>> rounds = new ArrayList<>();
        for (long size : stateMib()) {
            for (int pair = 1; pair <= arguments.pairs(); pair++) {
                rounds.add(round(size, pair));
            }
        }
        return rounds;
    }

    private List<CheckpointPlan> round(long stateMib, int pair) {
        List<CheckpointPlan> round = new ArrayList<>();
        for (Backend backend : arguments.backends) {
            for (Duration interval : intervals()) {
                round.add(plan(stateMib, pair, interval, backend));
            }
        }
        return round;
    }

    private CheckpointPlan plan(long stateMib, int pair, Duration interval, Backend backend) {
        return new CheckpointPlan(
                backend.name(),
                pair,
                stateMib,
                updates.valueBytes,
                interval.toMillis(),
                arguments.time(warmUp, Duration.ofSeconds(2), Duration.ofSeconds(30)).toMillis(),
                arguments.time(closed, Duration.ofSeconds(4), Duration.ofSeconds(60)).toMillis(),
                arguments.time(open, Duration.ofSeconds(5), Duration.ofSeconds(120)).toMillis(),
                updates.rate(arguments.quick));
    }
}
