package io.afterbay.experiments.blobcluster;

import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.experiments.RustPrograms;
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

/** What {@code afterbay bench blob-cluster} runs: which load, and on which objects. */
final class ClusterArguments {
    private static final int CLIENTS_MAX = 256;
    private static final int RATE_MAX = 100_000;
    private static final ByteSize SIZE_MIN = new ByteSize(16);
    private static final ByteSize SIZE_MAX = ByteSize.parse("64m");

    /** A larger one has chunks in several partitions. */
    private static final ByteSize KILL_SIZE_MAX = ByteSize.parse("4m");

    /** Enough that a request that waits long does not hold up those that are due. */
    private static final int CLIENTS_OF_KILL = 16;

    /** In each phase, so that every node is asked for, whatever chance says. */
    private static final long PHASE_REQUESTS = 100;

    /** What was not given may be that of the short form. */
    private final BooleanSupplier isQuick;

    @Option(
            names = "--operations",
            paramLabel = "LIST",
            split = ",",
            converter = ClusterOperation.Converter.class,
            description = "put, get, kill, with commas (default: all).")
    private List<ClusterOperation> operations = List.of(ClusterOperation.values());

    @Option(
            names = "--variants",
            paramLabel = "LIST",
            split = ",",
            converter = ClusterVariant.Converter.class,
            description =
                    "Clusters, with commas: afterbay, control (default: afterbay; quick: both).")
    private List<ClusterVariant> variants = List.of();

    @Option(
            names = "--sizes",
            paramLabel = "LIST",
            split = ",",
            converter = ByteSize.Converter.class,
            description =
                    "Bytes of an object of put and get, with commas (default: 25k,1m,5m; quick: 25k).")
    private List<ByteSize> sizes = List.of();

    @Option(
            names = "--clients",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Connections of put and get, each with one request at a time, with commas"
                            + " (default: 4,20; quick: 4).")
    private List<Integer> clients = List.of();

    @Option(
            names = "--kill-size",
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            defaultValue = "25k",
            description = "Bytes of an object of kill (default: ${DEFAULT-VALUE}).")
    private ByteSize killSize = ByteSize.parse("25k");

    @Option(
            names = "--rate",
            paramLabel = "N",
            description =
                    "Requests of kill that are due in a second, half of them puts (default: 200; quick:"
                            + " 100).")
    private @Nullable Integer rate;

    @Option(
            names = "--phase",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long a kill is calm, how long the node is away, and how long the load goes on"
                            + " from its start (default: 10s; quick: 1s).")
    private @Nullable Duration phase;

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description = "How long requests come before they count (default: 2s; quick: 300ms).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description = "How long requests of put and get count (default: 8s; quick: 700ms).")
    private @Nullable Duration open;

    @Option(
            names = "--build",
            paramLabel = "KIND",
            converter = RustPrograms.Build.Converter.class,
            description =
                    "How the programs of rust/ are compiled: release or dev, which is for tests and only"
                            + " with --quick (default: release).")
    RustPrograms.Build build = RustPrograms.Build.RELEASE;

    ClusterArguments(BooleanSupplier isQuick) {
        this.isQuick = isQuick;
    }

    /** Wrong values are the command's usage errors. */
    void check(CommandLine command) {
        checkDistinct(command, "--operations", operations);
        checkDistinct(command, "--variants", variants());
        checkDistinct(command, "--sizes", sizes());
        checkDistinct(command, "--clients", clients());
        if (!isQuick.getAsBoolean() && build == RustPrograms.Build.DEV) {
            throw new ParameterException(command, "--build dev: only with --quick");
        }
        for (int count : clients()) {
            checkRange(command, "--clients", count, 1, CLIENTS_MAX);
        }
        for (ByteSize size : sizes()) {
            checkRange(command, "--sizes", size.bytes(), SIZE_MIN.bytes(), SIZE_MAX.bytes());
        }
        checkRange(
                command, "--kill-size", killSize.bytes(), SIZE_MIN.bytes(), KILL_SIZE_MAX.bytes());
        checkRange(command, "--rate", rate(), 1, RATE_MAX);
        if (counted().isZero()) {
            throw new ParameterException(command, "--open: use more than 0");
        }
        if (rounds(1, new ClusterPlan.Tools("", "")).isEmpty()) {
            throw new ParameterException(
                    command, "--variants: none of them has these --operations");
        }
    }

    private static void checkDistinct(CommandLine command, String option, List<?> values) {
        if (values.isEmpty() || new HashSet<>(values).size() < values.size()) {
            throw new ParameterException(command, option + ": name each of them once");
        }
    }

    private static void checkRange(
            CommandLine command, String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw new ParameterException(
                    command, "%s %d: use numbers from %d to %d".formatted(option, value, min, max));
        }
    }

    private List<ClusterVariant> variants() {
        if (!variants.isEmpty()) {
            return variants;
        }
        return isQuick.getAsBoolean()
                ? List.of(ClusterVariant.AFTERBAY, ClusterVariant.CONTROL)
                : List.of(ClusterVariant.AFTERBAY);
    }

    private List<ByteSize> sizes() {
        if (!sizes.isEmpty()) {
            return sizes;
        }
        List<String> all = isQuick.getAsBoolean() ? List.of("25k") : List.of("25k", "1m", "5m");
        return all.stream().map(ByteSize::parse).toList();
    }

    private List<Integer> clients() {
        if (!clients.isEmpty()) {
            return clients;
        }
        return isQuick.getAsBoolean() ? List.of(4) : List.of(4, 20);
    }

    private int rate() {
        if (rate != null) {
            return rate;
        }
        return isQuick.getAsBoolean() ? 100 : 200;
    }

    private long phaseMs() {
        Duration usual = isQuick.getAsBoolean() ? Duration.ofSeconds(1) : Duration.ofSeconds(10);
        return (phase == null ? usual : phase).toMillis();
    }

    /** One for each pair of a setting. */
    List<List<ClusterPlan>> rounds(int pairs, ClusterPlan.Tools tools) {
        List<List<ClusterPlan>> rounds = new ArrayList<>();
        for (ClusterOperation operation : operations) {
            for (ClusterTrial.Setting setting : settings(operation)) {
                for (int pair = 1; pair <= pairs; pair++) {
                    rounds.add(round(operation, setting, pair, tools));
                }
            }
        }
        rounds.removeIf(List::isEmpty);
        return rounds;
    }

    /** Of any variant and pair. */
    private List<ClusterTrial.Setting> settings(ClusterOperation operation) {
        String label = operation.label();
        if (operation == ClusterOperation.KILL) {
            return List.of(
                    new ClusterTrial.Setting(
                            "", label, killSize.bytes(), CLIENTS_OF_KILL, rate(), phaseMs(), 0));
        }
        List<ClusterTrial.Setting> settings = new ArrayList<>();
        for (ByteSize size : sizes()) {
            for (int count : clients()) {
                settings.add(new ClusterTrial.Setting("", label, size.bytes(), count, 0, 0, 0));
            }
        }
        return settings;
    }

    /** With each pair, another variant begins. */
    private List<ClusterPlan> round(
            ClusterOperation operation,
            ClusterTrial.Setting of,
            int pair,
            ClusterPlan.Tools tools) {
        List<ClusterPlan> round = new ArrayList<>();
        for (ClusterVariant variant : variants()) {
            if (variant.takes(operation)) {
                round.add(new ClusterPlan(of.as(variant.label(), pair), times(), tools));
            }
        }
        Collections.rotate(round, 1 - pair);
        return round;
    }

    private ClusterPlan.Times times() {
        Duration before =
                warmUp == null ? Duration.ofMillis(isQuick.getAsBoolean() ? 300 : 2000) : warmUp;
        return new ClusterPlan.Times(before.toMillis(), counted().toMillis(), PHASE_REQUESTS);
    }

    private Duration counted() {
        return open == null ? Duration.ofMillis(isQuick.getAsBoolean() ? 700 : 8000) : open;
    }
}
