package io.afterbay.experiments.spark;

import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.workloads.microbatch.EventTimes;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
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

/** What {@code afterbay bench spark} runs: which queries, how they commit, where. */
final class SparkArguments {
    private static final int RATE_MAX = EventTimes.RECORDS_PER_S_MAX / 4;
    private static final int PARTITIONS_MAX = 1000;
    private static final int BATCHES_MIN = 100;
    private static final int BATCHES_MIN_OF_QUICK = 3;

    /** Of each attempt at a rate: of so few, each has to be in time. */
    private static final int BATCHES_MIN_OF_SEARCH = 3;

    private static final long SEED = 1;
    private static final Duration LIMIT = Duration.ofMillis(SparkTrial.LIMIT_MS);

    /** What was not given may be that of the short form. */
    private final BooleanSupplier isQuick;

    @Option(
            names = "--queries",
            paramLabel = "LIST",
            split = ",",
            converter = SparkQuery.Converter.class,
            description =
                    "Queries, with commas: lr2 (join), lr4 (count), cm1 (sum, ordered), cm2 (mean);"
                            + " default: all of them; quick: lr4.")
    private List<SparkQuery> queries = List.of();

    @Option(
            names = "--variants",
            paramLabel = "LIST",
            split = ",",
            converter = SparkVariant.Converter.class,
            description =
                    "How they commit, with commas (default: snapshot,changelog,strict,pipelined;"
                            + " quick: changelog,strict,pipelined,control).")
    private List<SparkVariant> variants = List.of();

    @Option(
            names = "--rates",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Records per second that are due, with commas (default: 2500; quick: 1000).")
    private List<Integer> rates = List.of();

    @Option(
            names = "--search",
            description =
                    "Seek the rate that each variant sustains instead: the highest one at which nine of"
                            + " ten batches take no longer than the trigger, or 3s without one.")
    private boolean search;

    @Option(
            names = "--dfs",
            paramLabel = "LIST",
            split = ",",
            converter = SparkDfs.Converter.class,
            description =
                    "Where the checkpoint is: local, or slow (5 ms for an operation on metadata, 30 ms"
                            + " to close a written file, 50 MB/s, and 500 ms more for one of a"
                            + " hundred; default: slow).")
    private List<SparkDfs> dfs = List.of(SparkDfs.SLOW);

    @Option(
            names = "--triggers",
            paramLabel = "LIST",
            split = ",",
            converter = Durations.class,
            description =
                    "Times between the beginnings of two batches, for example off,3s,5s; off: one"
                            + " after the other (default: off).")
    private List<Duration> triggers = List.of(Duration.ZERO);

    @Option(
            names = "--partitions",
            paramLabel = "LIST",
            split = ",",
            description = "Partitions of the state, with commas (default: 8; quick: 2).")
    private List<Integer> partitions = List.of();

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long records come before batches count; the windows are full from the"
                            + " beginning (default: 30s; 10s for each attempt of --search; quick: 3s).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "Counted time (default: 110 triggers, at least 150s; 10 triggers, at least 30s,"
                            + " for each attempt of --search; quick: 10s). It is longer, up to ten"
                            + " times or 3 minutes, until there are 100 batches (--search, quick: 3).")
    private @Nullable Duration open;

    SparkArguments(BooleanSupplier isQuick) {
        this.isQuick = isQuick;
    }

    int batchesMin() {
        return isQuick.getAsBoolean() ? BATCHES_MIN_OF_QUICK : BATCHES_MIN;
    }

    /** Wrong values are the command's usage errors. */
    void check(CommandLine command) {
        if (search && !rates.isEmpty()) {
            throw new ParameterException(command, "--rates and --search: use one of them");
        }
        checkDistinct(command, "--queries", queries());
        checkDistinct(command, "--variants", variants());
        checkDistinct(command, "--rates", rates());
        checkDistinct(command, "--partitions", partitions());
        checkRange(command, "--rates", rates(), search ? 0 : 1, RATE_MAX);
        checkRange(command, "--partitions", partitions(), 1, PARTITIONS_MAX);
        if (dfs.contains(SparkDfs.LOCAL) && variants().contains(SparkVariant.ASYNC_UPLOAD)) {
            throw new ParameterException(
                    command,
                    "--variants async-upload: only with --dfs slow, which models its speed");
        }
        if (search && variants().contains(SparkVariant.CONTROL)) {
            throw new ParameterException(
                    command, "--variants control: not with --search, which checks no rows");
        }
        if (counted(Duration.ZERO).isZero()) {
            throw new ParameterException(command, "--open: use more than 0");
        }
    }

    private static void checkDistinct(CommandLine command, String option, List<?> values) {
        if (values.isEmpty() || new HashSet<>(values).size() < values.size()) {
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

    private List<SparkQuery> queries() {
        if (!queries.isEmpty()) {
            return queries;
        }
        return isQuick.getAsBoolean() ? List.of(SparkQuery.LR4) : List.of(SparkQuery.values());
    }

    private List<SparkVariant> variants() {
        if (!variants.isEmpty()) {
            return variants;
        }
        return isQuick.getAsBoolean() && !search
                ? List.of(
                        SparkVariant.CHANGELOG,
                        SparkVariant.STRICT,
                        SparkVariant.PIPELINED,
                        SparkVariant.CONTROL)
                : List.of(
                        SparkVariant.SNAPSHOT,
                        SparkVariant.CHANGELOG,
                        SparkVariant.STRICT,
                        SparkVariant.PIPELINED);
    }

    /** One rate that is not known for the search. */
    private List<Integer> rates() {
        if (search) {
            return List.of(0);
        }
        return rates.isEmpty() ? List.of(isQuick.getAsBoolean() ? 1000 : 2500) : rates;
    }

    private List<Integer> partitions() {
        return partitions.isEmpty() ? List.of(isQuick.getAsBoolean() ? 2 : 8) : partitions;
    }

    /** One for each pair of a setting. */
    List<List<SparkPlan>> rounds(int pairs, ByteSize heap) {
        List<List<SparkPlan>> rounds = new ArrayList<>();
        for (SparkQuery query : queries()) {
            for (SparkDfs where : dfs) {
                for (Duration trigger : triggers) {
                    for (int count : partitions()) {
                        for (int rate : rates()) {
                            for (int pair = 1; pair <= pairs; pair++) {
                                rounds.add(round(query, where, trigger, count, rate, pair, heap));
                            }
                        }
                    }
                }
            }
        }
        return rounds;
    }

    /** With each pair, another variant begins. */
    private List<SparkPlan> round(
            SparkQuery query,
            SparkDfs where,
            Duration trigger,
            int count,
            int rate,
            int pair,
            ByteSize heap) {
        List<SparkPlan> round = new ArrayList<>();
        for (SparkVariant variant : variants()) {
            SparkTrial.Setting setting =
                    new SparkTrial.Setting(
                            variant.label(),
                            query.label(),
                            rate,
                            where.label(),
                            trigger.toMillis(),
                            count,
                            pair);
            round.add(new SparkPlan(setting, heap, run(query, variant, where, trigger, setting)));
        }
        Collections.rotate(round, 1 - pair);
        return round;
    }

    private MicroBatchPlan run(
            SparkQuery query,
            SparkVariant variant,
            SparkDfs where,
            Duration trigger,
            SparkTrial.Setting setting) {
        Duration limit = trigger.isZero() ? LIMIT : trigger;
        boolean hasDeadline = variant == SparkVariant.DEADLINE;
        return new MicroBatchPlan(
                query.query(),
                "",
                SEED,
                setting.ratePerS(),
                setting.partitions(),
                hasDeadline ? 0 : setting.triggerMs(),
                where == SparkDfs.SLOW,
                hasDeadline ? limit.toMillis() : 0,
                variant == SparkVariant.CONTROL,
                variant.settings(),
                limit.toMillis(),
                warmUp().toMillis(),
                counted(trigger).toMillis(),
                search ? BATCHES_MIN_OF_SEARCH : batchesMin());
    }

    private Duration warmUp() {
        if (warmUp != null) {
            return warmUp;
        }
        if (isQuick.getAsBoolean()) {
            return Duration.ofSeconds(3);
        }
        return Duration.ofSeconds(search ? 10 : 30);
    }

    private Duration counted(Duration trigger) {
        if (open != null) {
            return open;
        }
        if (isQuick.getAsBoolean()) {
            return Duration.ofSeconds(10);
        }
        return search
                ? longer(trigger.multipliedBy(10), Duration.ofSeconds(30))
                : longer(trigger.multipliedBy(110), Duration.ofSeconds(150));
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }
}
