package io.afterbay.experiments.storm;

import io.afterbay.command.Durations;
import io.afterbay.experiments.OnOff;
import io.afterbay.handover.stragglers.StragglerPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What {@code afterbay bench storm} runs: what there is to cure, and who chooses the tasks. */
final class StormArguments {
    private static final int TASKS_MAX = 32;
    private static final int UTILISATION_MAX = 99;
    private static final int STAGES_MAX = 5;
    private static final int BUSY_MAX = 90;
    private static final double PERCENT = 100;

    private static final double MS_PER_S = 1000;
    private static final int TUPLES = 200_000;
    private static final int OPERATIONS_MIN = 100;
    private static final int OPERATIONS_MAX = 10_000_000;

    /** What is waited for a recovered task. */
    private static final double RECOVERY_S = 30;

    private static final long SEED = 1;

    /** What was not given may be that of the short form. */
    private final BooleanSupplier isQuick;

    @Option(
            names = "--cells",
            paramLabel = "LIST",
            split = ",",
            converter = StormCell.Converter.class,
            description =
                    "What there is to cure, with commas: queue (tasks are alike), slow (one task is 3x"
                            + " slower while tuples count, and can just do an even share), overload"
                            + " (it cannot), replication (tasks stand still now and then), limits"
                            + " (they do on both sides of what limits replays: 58 %% load, and 49 %%"
                            + " of the processors), and of five workers on model machines of two"
                            + " processors each: uneven (they have different numbers of tasks), beside"
                            + " (two have other programs beside), mixed (one has one processor); of"
                            + " three workers in cgroups of this machine, whose tasks are at work and"
                            + " do not sleep: beside-cgroup (two have a compressor beside), mixed-cgroup"
                            + " (one has half of what others have), for which you must be root; and"
                            + " pageload-low, pageload-high, pageload-mixed, processing-low,"
                            + " processing-high, processing-mixed (Yahoo!'s topologies with the loads"
                            + " that replays, shared queues and balance are for); default: all of them;"
                            + " quick: slow.")
    private List<StormCell> cells = List.of();

    @Option(
            names = "--variants",
            paramLabel = "LIST",
            split = ",",
            converter = StormVariant.Converter.class,
            description =
                    "Who chooses the task of a tuple, and how often it is sent, with commas (default:"
                            + " those that the cell is about; quick:"
                            + " load-aware,shared,balanced,replay-always).")
    private List<StormVariant> variants = List.of();

    @Option(
            names = "--tasks",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Tasks of a bolt, with commas (default: 2,4,8 for queue, 3 for uneven, 6 for"
                            + " -cgroup, 4 for pageload-high and processing-high, else 5).")
    private List<Integer> tasks = List.of();

    @Option(
            names = "--utilisations",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Load of tasks that are not slow, by an even share of the tuples, in percent, with"
                            + " commas (default: 30,50,70,78,90,95 for queue, 27 for slow, 36 for"
                            + " overload, 30 for replication, 40,70 for limits, 40 for uneven, 27 for"
                            + " beside and mixed, 8 for beside-cgroup, 6 for mixed-cgroup, and 29, 80"
                            + " and 13 for -low, -high and -mixed).")
    private List<Integer> utilisations = List.of();

    @Option(
            names = "--busy",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Share of the time of this machine's processors that is used up beside Storm, in"
                            + " percent, with commas (default: 0,50 for limits, else 0).")
    private List<Integer> busy = List.of();

    @Option(
            names = "--stages",
            paramLabel = "N",
            description =
                    "Bolts in a row (default: 1 for queue, slow, overload and -cgroup, else 3); Yahoo!'s"
                            + " topologies have six of their own.")
    private @Nullable Integer stages;

    @Option(
            names = "--service",
            paramLabel = "NAME",
            converter = StormService.Converter.class,
            description =
                    "How the times are distributed that a task takes, 2.2 ms on average (4 ms for"
                            + " -cgroup, Yahoo!'s 1.2 ms, and 0.2 ms for -mixed): exponential,"
                            + " fixed, or pauses: exponential, and each task stands still for 100 ms"
                            + " every 10 s on average (default: pauses for replication, limits and"
                            + " -low, else exponential).")
    private @Nullable StormService service;

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description = "How long tuples come before they count (default: 10s; quick: 4s).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "Counted time, for which the slow task is slow; behind it the same again, and at"
                            + " most 30 s, for its recovery (default: until 200,000 tuples have"
                            + " come; quick: 6s).")
    private @Nullable Duration open;

    @Option(
            names = "--operations",
            paramLabel = "N",
            description =
                    "In the place of --open: counted time until so many tuples have come, at the rate"
                            + " of the load.")
    private @Nullable Integer operations;

    @Option(
            names = "--policy",
            paramLabel = "on|off",
            converter = OnOff.Converter.class,
            defaultValue = "on",
            description =
                    "off: shared, balanced, replay and blind run without their technique, with --quick"
                            + " only, which then has to end with 1 (default: ${DEFAULT-VALUE}).")
    private OnOff policy = OnOff.ON;

    StormArguments(BooleanSupplier isQuick) {
        this.isQuick = isQuick;
    }

    /** Wrong values are the command's usage errors. */
    void check(CommandLine command) {
        checkDistinct(command, "--cells", cells);
        checkDistinct(command, "--variants", variants);
        checkDistinct(command, "--tasks", tasks);
        checkDistinct(command, "--utilisations", utilisations);
        checkRange(command, "--tasks", tasks, 2, TASKS_MAX);
        checkRange(command, "--utilisations", utilisations, 1, UTILISATION_MAX);
        checkDistinct(command, "--busy", busy);
        checkRange(command, "--busy", busy, 0, BUSY_MAX);
        checkRange(
                command, "--stages", stages == null ? List.of() : List.of(stages), 1, STAGES_MAX);
        checkStages(command);
        if (open != null && open.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new ParameterException(command, "--open: use 1s or more");
        }
        checkOperations(command);
        if (policy == OnOff.OFF && !isQuick.getAsBoolean()) {
            throw new ParameterException(
                    command, "--policy off: only with --quick, whose runs are not recorded");
        }
    }

    private void checkOperations(CommandLine command) {
        if (operations != null && open != null) {
            throw new ParameterException(
                    command, "--operations and --open: each says how long tuples count; use one");
        }
        checkRange(
                command,
                "--operations",
                operations == null ? List.of() : List.of(operations),
                OPERATIONS_MIN,
                OPERATIONS_MAX);
    }

    private void checkStages(CommandLine command) {
        for (StormCell cell : stages == null ? List.<StormCell>of() : cells()) {
            if (cell.shape().layout() != StormLayout.ROW) {
                throw new ParameterException(
                        command,
                        "--stages: %s has bolts of its own; name --cells whose bolts are in a row, or leave it out"
                                .formatted(cell.label()));
            }
        }
    }

    private static void checkDistinct(CommandLine command, String option, List<?> values) {
        if (new HashSet<>(values).size() < values.size()) {
            throw new ParameterException(command, option + ": name each of them once");
        }
    }

    private static void checkRange(
            CommandLine command, String option, List<Integer> values, int min, int max) {
        for (int value : values) {
            if (value < min || value > max) {
                throw new ParameterException(
                        command,
                        "%s %d: use numbers from %d to %d".formatted(option, value, min, max));
            }
        }
    }

    /** One for each pair of a setting. */
    List<List<StormPlan>> rounds(int pairs) {
        List<List<StormPlan>> rounds = new ArrayList<>();
        for (StormCell cell : cells()) {
            for (int count : or(tasks, cell.shape().tasks())) {
                for (int percent : or(utilisations, cell.load().utilisations())) {
                    for (int busyPercent : or(busy, cell.load().busyPercents())) {
                        for (int pair = 1; pair <= pairs; pair++) {
                            rounds.add(round(cell, count, percent, busyPercent, pair));
                        }
                    }
                }
            }
        }
        return rounds;
    }

    private static <T> List<T> or(List<T> given, List<T> usual) {
        return given.isEmpty() ? usual : given;
    }

    private List<StormCell> cells() {
        if (!cells.isEmpty()) {
            return cells;
        }
        return isQuick.getAsBoolean() ? List.of(StormCell.SLOW) : List.of(StormCell.values());
    }

    private List<StormVariant> variants(StormCell cell) {
        if (!variants.isEmpty()) {
            return variants;
        }
        return isQuick.getAsBoolean()
                ? List.of(
                        StormVariant.LOAD_AWARE,
                        StormVariant.SHARED,
                        StormVariant.BALANCED,
                        StormVariant.REPLAY_ALWAYS)
                : cell.variants();
    }

    /** With each pair, another variant begins. */
    private List<StormPlan> round(
            StormCell cell, int count, int percent, int busyPercent, int pair) {
        List<StormPlan> round = new ArrayList<>();
        for (StormVariant variant : variants(cell)) {
            StormTrial.Setting setting =
                    new StormTrial.Setting(
                            variant.label(),
                            cell.label(),
                            stages == null ? cell.shape().stages() : stages,
                            count,
                            percent,
                            (service == null ? cell.load().service() : service).label(),
                            cell.load().slowdown(),
                            busyPercent,
                            pair);
            round.add(new StormPlan(setting, run(variant, cell, setting)));
        }
        Collections.rotate(round, 1 - pair);
        return round;
    }

    private StragglerPlan run(StormVariant variant, StormCell cell, StormTrial.Setting setting) {
        double servicesPerS = cell.load().servicesPerS();
        double ratePerS = servicesPerS * setting.tasks() * setting.utilisationPercent() / PERCENT;
        double countedS = countedS(ratePerS);
        return new StragglerPlan(
                senders(variant),
                cell.shape().topology(setting.stages(), setting.tasks()),
                new StragglerPlan.Load(
                        ratePerS,
                        StormService.named(setting.service()).service(),
                        MS_PER_S / servicesPerS,
                        setting.slowdown(),
                        setting.busyPercent() / PERCENT),
                warmUpS(),
                countedS,
                setting.hasSlowTask() ? Math.min(countedS, RECOVERY_S) : 0,
                SEED + setting.pair());
    }

    private StragglerPlan.Senders senders(StormVariant variant) {
        StragglerPlan.Senders senders = variant.senders();
        return policy == OnOff.ON
                ? senders
                : new StragglerPlan.Senders(
                        StormVariant.SHUFFLE.senders().technique(),
                        senders.grouping(),
                        senders.prefersOwnWorker(),
                        senders.receiveBuffer(),
                        0,
                        false);
    }

    private double warmUpS() {
        Duration usual = Duration.ofSeconds(isQuick.getAsBoolean() ? 4 : 10);
        return seconds(warmUp == null ? usual : warmUp);
    }

    private double countedS(double ratePerS) {
        if (open != null) {
            return seconds(open);
        }
        if (operations == null && isQuick.getAsBoolean()) {
            return 6;
        }
        return Math.ceil((operations == null ? TUPLES : operations) / ratePerS);
    }

    private static double seconds(Duration of) {
        return of.toMillis() / MS_PER_S;
    }
}
