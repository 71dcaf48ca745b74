package io.afterbay.experiments.replay;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.Durations;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench replay}. */
@Command(
        name = "replay",
        description = {
            "What a live job feels of a replay beside it.",
            "",
            "Members change their profiles by a schedule, whatever becomes of them; a live job on"
                    + " Flink brings their titles from a topic of Kafka into another one. Latency is"
                    + " from when a profile was due to when a reader of the table had its title."
                    + " Meanwhile the past is done once more, and at the end the table is compared with"
                    + " an answer in plain Java. Broker, traffic, live job and replay are processes"
                    + " of their own on this machine.",
            "",
            "Variants: none (no replay), unthrottled and fixed (./afterbay replay --mode beside), unmerged"
                    + " (the same without the merge: the control, whose table must be wrong),"
                    + " second-job (the job a second time, from the oldest record on, in a group of its"
                    + " own), hybrid-source (the job anew, whose source has the past and goes on live)."
                    + " The first run finds out the highest rate.",
            "",
            "Runs are appended to bench/results/replay.jsonl round by round. Rounds that are there for"
                    + " this revision are left out, so the experiment can be stopped and continued.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench replay --quick",
            "  ./afterbay bench replay --quick --resolver off      # ends with 1",
            "  ./afterbay bench replay --pairs 3 --rates 2000,5000",
            "  ./afterbay bench replay --live 70 --variants none,fixed --rates 5000 --pairs 5",
            "",
            "Exit codes: 0 done, 1 a run failed, a table was wrong or the control's was not, a rate was not",
            "kept or there was no conflict, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchReplayCommand extends TrialCommand<ReplayBenchPlan, ReplayTrial> {
    private static final List<String> REFUSED =
            List.of(
                    "--backends",
                    "--parallelism",
                    "--memory",
                    "--state-memory",
                    "--checkpoint-interval",
                    "-D");
    private static final Double UNTHROTTLED = Double.POSITIVE_INFINITY;
    private static final int PERCENT_MAX = 100;
    private static final double RATE_MAX = 1e6;
    private static final long COUNT_MAX = 1_000_000_000;

    private static final double QUICK_LIVE_RATE = 300;
    private static final List<Double> QUICK_RATES = List.of(800.0);
    private static final long QUICK_MEMBERS = 3_000;
    private static final long QUICK_PAST = 8_000;

    @Option(
            names = "--live",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Rate of the live job in percent of the highest, with commas (default: 50,70).")
    private List<Integer> percents = List.of();

    @Option(
            names = "--live-rate",
            paramLabel = "N",
            description =
                    "Rate of the live job in profiles per second, in place of --live (quick:"
                            + " 300).")
    private @Nullable Double liveRate;

    @Option(
            names = "--variants",
            paramLabel = "LIST",
            split = ",",
            converter = ReplayVariant.Converter.class,
            description =
                    "How the past is done, with commas (default: all; quick: fixed,unmerged).")
    private List<ReplayVariant> variants = List.of();

    @Option(
            names = "--rates",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Rates of fixed and, the first of them, unmerged in records per second, with commas"
                            + " (default: 2000,5000; quick: 800).")
    private List<Double> rates = List.of();

    @Option(
            names = "--members",
            paramLabel = "N",
            description = "Members, each with a profile (default: 100000; quick: 3000).")
    private @Nullable Long members;

    @Option(
            names = "--past",
            paramLabel = "N",
            description =
                    "Records of the past, of which the first are the profiles of all members"
                            + " (default: 300000; quick: 8000).")
    private @Nullable Long past;

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long the live job runs before anything counts (default: 30s; quick: 3s).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--phase",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long it is measured before and after the replay (default: 30s; quick: 3s).")
    private @Nullable Duration phase;

    @Option(
            names = "--resolver",
            paramLabel = "on|off",
            converter = ReplayResolver.Converter.class,
            defaultValue = "on",
            description =
                    "off: unthrottled and fixed run without their merge, with --quick only, which then"
                            + " has to end with 1 (default: ${DEFAULT-VALUE}).")
    private ReplayResolver resolver = ReplayResolver.ON;

    @Override
    protected void check(CommandLine command) {
        for (String refused : REFUSED) {
            if (command.getParseResult().hasMatchedOption(refused)) {
                throw new ParameterException(
                        command,
                        refused
                                + ": the jobs of this experiment have what it gives them; see --help");
            }
        }
        if (liveRate != null && !percents.isEmpty()) {
            throw new ParameterException(command, "--live and --live-rate: use one of them");
        }
        checkDistinct(command, "--live", percents);
        checkDistinct(command, "--variants", variants);
        checkDistinct(command, "--rates", rates);
        percents.forEach(value -> checkRange(command, "--live", value, 1, PERCENT_MAX));
        rates().forEach(value -> checkRange(command, "--rates", value, 1, RATE_MAX));
        checkRange(command, "--live-rate", liveRate == null ? 1 : liveRate, 1, RATE_MAX);
        checkRange(command, "--members", members(), 1, COUNT_MAX);
        checkRange(command, "--past", past(), members(), COUNT_MAX);
        if (resolver == ReplayResolver.OFF && !arguments.quick) {
            throw new ParameterException(
                    command, "--resolver off: only with --quick, whose runs are not recorded");
        }
    }

    private static void checkDistinct(CommandLine command, String option, List<?> values) {
        if (new HashSet<>(values).size() < values.size()) {
            throw new ParameterException(command, option + ": name each of them once");
        }
    }

    private static void checkRange(
            CommandLine command, String option, double value, double min, double max) {
        if (!(value >= min && value <= max)) {
            throw new ParameterException(
                    command,
                    "%s %.0f: use numbers from %.0f to %.0f".formatted(option, value, min, max));
        }
    }

    private long members() {
        return members != null ? members : arguments.quick ? QUICK_MEMBERS : 100_000;
    }

    private long past() {
        return past != null ? past : arguments.quick ? QUICK_PAST : 300_000;
    }

    private List<Double> rates() {
        if (!rates.isEmpty()) {
            return rates;
        }
        return arguments.quick ? QUICK_RATES : List.of(2_000.0, 5_000.0);
    }

    private List<ReplayVariant> variants() {
        if (!variants.isEmpty()) {
            return variants;
        }
        return arguments.quick
                ? List.of(ReplayVariant.FIXED, ReplayVariant.UNMERGED)
                : List.of(ReplayVariant.values());
    }

    /** Null if it follows from the highest one. */
    private @Nullable Double liveRate() {
        if (liveRate != null) {
            return liveRate;
        }
        return arguments.quick && percents.isEmpty() ? QUICK_LIVE_RATE : null;
    }

    @Override
    protected TrialKind<ReplayBenchPlan, ReplayTrial> kind(CommandLine command) {
        List<List<ReplayBenchPlan>> rounds = new ArrayList<>();
        Double given = liveRate();
        if (given != null) {
            rounds.addAll(rounds(0, given));
        } else {
            rounds.add(List.of(plan(ReplayTrial.MAXIMUM, 0, null, null, 1)));
            for (int percent : percents.isEmpty() ? List.of(50, 70) : percents) {
                rounds.addAll(rounds(percent, null));
            }
        }
        return new ReplayKind(rounds);
    }

    /** One for each pair; with each, another variant begins. */
    private List<List<ReplayBenchPlan>> rounds(int percent, @Nullable Double rate) {
        List<List<ReplayBenchPlan>> rounds = new ArrayList<>();
        for (int pair = 1; pair <= arguments.pairs(); pair++) {
            List<ReplayBenchPlan> round = new ArrayList<>();
            for (ReplayVariant variant : variants()) {
                for (Double replayRate : rates(variant)) {
                    round.add(
                            plan(
                                    variant.label(),
                                    percent,
                                    rate,
                                    replayRate.isInfinite() ? null : replayRate,
                                    pair));
                }
            }
            Collections.rotate(round, 1 - pair);
            rounds.add(round);
        }
        return rounds;
    }

    private List<Double> rates(ReplayVariant variant) {
        if (!variant.hasRate()) {
            return List.of(UNTHROTTLED);
        }
        return variant == ReplayVariant.FIXED ? rates() : rates().subList(0, 1);
    }

    private ReplayBenchPlan plan(
            String variant,
            int percent,
            @Nullable Double rate,
            @Nullable Double replayRate,
            int pair) {
        return new ReplayBenchPlan(
                variant,
                percent,
                rate,
                replayRate,
                pair,
                resolver == ReplayResolver.ON,
                members(),
                past(),
                arguments.time(warmUp, Duration.ofSeconds(3), Duration.ofSeconds(30)).toMillis(),
                arguments.time(phase, Duration.ofSeconds(3), Duration.ofSeconds(30)).toMillis());
    }

    /** Of the process between this one and those that are measured. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
