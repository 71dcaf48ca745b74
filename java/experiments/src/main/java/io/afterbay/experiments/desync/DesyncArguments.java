package io.afterbay.experiments.desync;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What {@code afterbay bench desync} runs: which cures, where. */
final class DesyncArguments {
    private static final int THREADS_MIN = 2;
    private static final int PERCENT_MAX = 100;
    private static final List<String> ON_KAFKA_ONLY = List.of("--vocabulary");
    private static final List<String> ON_FLINK_ONLY =
            List.of("--threads", "--payload", "--history", "--work", "--memory", "--state-memory");
    private static final ByteSize TMPFS_MIN = ByteSize.parse("4g");
    private static final ByteSize TMPFS_MIN_OF_QUICK = ByteSize.parse("256m");

    /** What was not given may be that of the short form. */
    private final BooleanSupplier isQuick;

    @Option(
            names = "--on",
            paramLabel = "ENGINE",
            converter = DesyncEngine.Converter.class,
            defaultValue = "flink",
            description =
                    "Where: flink (the traffic-jam job), kafka-streams-4.2 or kafka-streams-4.3 (word"
                            + " count with at-least-once, on a broker that the run starts; default:"
                            + " ${DEFAULT-VALUE}).")
    private DesyncEngine on = DesyncEngine.FLINK;

    @Option(
            names = "--cures",
            paramLabel = "LIST",
            split = ",",
            converter = DesyncCure.Converter.class,
            description =
                    "Cures, with commas (default: all of them; quick: default,spread). Without"
                            + " Debian's libeatmydata1 there is no no-sync and tuned-no-sync.")
    private List<DesyncCure> cures = List.of();

    @Option(
            names = "--sweep",
            paramLabel = "WHAT",
            converter = DesyncSweep.Converter.class,
            description =
                    "Instead of cures, several values of: delay (of compactions after a burst of"
                            + " flushes, in ms), flush-threads, or compaction-threads (and the knee"
                            + " of latency over compactions at once, within each run). Beside them"
                            + " run the default and the cures that are named.")
    private @Nullable DesyncSweep sweep;

    @Option(
            names = "--values",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Values of --sweep (default: 100,300,1000,3000,8000 for delay, else 1,2,4,8,16).")
    private List<Integer> values = List.of();

    @Option(
            names = "--tmpfs",
            paramLabel = "DIR",
            arity = "0..1",
            fallbackValue = Tmpfs.USUAL,
            description =
                    "Keep RocksDB's files and checkpoints in memory, in this directory of a tmpfs"
                            + " (without a name: ${FALLBACK-VALUE}), rather than on the disk of"
                            + " --work-dir.")
    private @Nullable Path tmpfs;

    @Option(
            names = "--subtasks",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Instances of each keyed stage (default: 16,64; quick: 8); on Kafka Streams, partitions"
                            + " (default: 64; quick: 4).")
    private List<Integer> subtasks = List.of();

    @Option(
            names = "--intervals",
            paramLabel = "LIST",
            split = ",",
            converter = Durations.class,
            description =
                    "Times between checkpoints, or on Kafka Streams between commits (default: 8s,16s,"
                            + " or 8s; quick: 2s).")
    private List<Duration> intervals = List.of();

    @Option(
            names = "--threads",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Threads of RocksDB in the process: a quarter for flushes, at least one, the others"
                            + " for compactions; 2 is Flink's default (default: the processors and"
                            + " one; quick: 2).")
    private List<Integer> threads = List.of();

    @Option(
            names = "--payload",
            paramLabel = "N",
            description =
                    "Ballast in the state of each car, in bytes (default: 6000; quick: 1000, so that"
                            + " checkpoints come before memtables are full).")
    private @Nullable Integer payload;

    @Option(
            names = "--history",
            paramLabel = "N",
            description =
                    "Reports in the state of each car, each with its ballast: the more, the more of"
                            + " what a checkpoint flushes is new, and the longer compactions take"
                            + " (default: 60; quick: 20).")
    private @Nullable Integer history;

    @Option(
            names = "--work",
            paramLabel = "N",
            description =
                    "Computing for each report, in thousands of steps (of about a nanosecond): the"
                            + " more, the less is written at the same load (default: 600, by which"
                            + " a processor writes about as much as in the paper; quick: 0).")
    private @Nullable Integer work;

    @Option(
            names = "--vocabulary",
            paramLabel = "N",
            description =
                    "How many different words there are, equally frequent; only on Kafka Streams"
                            + " (default: 1000000; quick: 100000).")
    private @Nullable Integer vocabulary;

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            description =
                    "CPU time that the process is to take, in percent of all processors (default:"
                            + " 75, on Kafka Streams 70; quick: 40, so that compactions end before the next checkpoint on"
                            + " slower machines, too; quick on Kafka Streams: 100, since commits"
                            + " flush after 10,000 words of a partition). A run before the others"
                            + " seeks the rate for it.")
    private @Nullable Integer load;

    DesyncArguments(BooleanSupplier isQuick) {
        this.isQuick = isQuick;
    }

    /** Wrong options are the command's usage errors. */
    void check(CommandLine command, EngineOptions engine) {
        checkEngine(command);
        checkCures(command);
        for (Duration interval : intervals()) {
            engine.withCheckpointInterval(interval).checkInterval(command);
        }
        checkNumbers(command);
        checkSweep(command);
        checkTmpfs(command, engine);
    }

    /** What only one of the engines has. */
    private void checkEngine(CommandLine command) {
        List<String> others = on.isKafka() ? ON_FLINK_ONLY : ON_KAFKA_ONLY;
        for (String option : others) {
            if (command.getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        command, "%s: not with --on %s".formatted(option, on.label()));
            }
        }
    }

    private void checkCures(CommandLine command) {
        for (DesyncCure cure : cures) {
            String problem = problem(cure);
            if (!problem.isEmpty()) {
                throw new ParameterException(
                        command, "--cures %s: %s".formatted(cure.label(), problem));
            }
        }
    }

    private void checkNumbers(CommandLine command) {
        if (vocabulary() != null && vocabulary() < 1) {
            throw new ParameterException(
                    command, "--vocabulary %d: use 1 or more".formatted(vocabulary()));
        }
        if (subtasks().stream().anyMatch(n -> n < 1 || n > EngineOptions.MAX_PARALLELISM)) {
            throw new ParameterException(
                    command, "--subtasks: use numbers from 1 to " + EngineOptions.MAX_PARALLELISM);
        }
        if (threads().stream().anyMatch(n -> n < THREADS_MIN)) {
            throw new ParameterException(
                    command,
                    "--threads: use 2 or more, one for flushes and the rest for compactions");
        }
        if (payload() < 0) {
            throw new ParameterException(
                    command, "--payload %d: use 0 or more".formatted(payload()));
        }
        if (history != null && history < 1) {
            throw new ParameterException(command, "--history %d: use 1 or more".formatted(history));
        }
        if (work() < 0) {
            throw new ParameterException(command, "--work %d: use 0 or more".formatted(work()));
        }
        if (loadPercent() < 1 || loadPercent() > PERCENT_MAX) {
            throw new ParameterException(
                    command, "--load %d: use 1 to 100".formatted(loadPercent()));
        }
    }

    private void checkSweep(CommandLine command) {
        if (sweep == null) {
            if (!values.isEmpty()) {
                throw new ParameterException(command, "--values: say of what, with --sweep");
            }
            return;
        }
        for (int value : values) {
            String problem = sweep.problem(value);
            if (!problem.isEmpty()) {
                throw new ParameterException(command, "--values: " + problem);
            }
        }
    }

    /** The working directory is all that runs leave anything in. */
    private void checkTmpfs(CommandLine command, EngineOptions engine) {
        if (tmpfs == null) {
            return;
        }
        if (engine.workDirectory() != null) {
            throw new ParameterException(
                    command, "--tmpfs and --work-dir: both say where state is; use one of them");
        }
        String problem =
                Tmpfs.problem(tmpfs, isQuick.getAsBoolean() ? TMPFS_MIN_OF_QUICK : TMPFS_MIN);
        if (!problem.isEmpty()) {
            throw new ParameterException(command, "--tmpfs: " + problem);
        }
    }

    /** The engine, which may work in memory. */
    EngineOptions engine(EngineOptions given) {
        return tmpfs == null ? given : given.withWorkDirectory(tmpfs);
    }

    private List<DesyncCure> cures() {
        if (sweep != null) {
            return Stream.concat(Stream.of(DesyncCure.DEFAULT), cures.stream()).distinct().toList();
        }
        if (!cures.isEmpty()) {
            return cures;
        }
        return isQuick.getAsBoolean()
                ? List.of(DesyncCure.DEFAULT, DesyncCure.SPREAD)
                : Stream.of(DesyncCure.values()).filter(this::isThere).toList();
    }

    private boolean isThere(DesyncCure cure) {
        return problem(cure).isEmpty();
    }

    /** Why it cannot run here; empty if it can. */
    private String problem(DesyncCure cure) {
        if (on.isKafka() && cure == DesyncCure.AFTERBAY) {
            return "a state backend of Flink, not with --on " + on.label();
        }
        return cure.isUnsynced() && UnsyncedFiles.library().isEmpty()
                ? UnsyncedFiles.missing()
                : "";
    }

    private List<Integer> subtasks() {
        return subtasks.isEmpty() ? defaults().subtasks() : subtasks;
    }

    private List<Duration> intervals() {
        return intervals.isEmpty() ? defaults().intervals() : intervals;
    }

    private List<Integer> threads() {
        return threads.isEmpty() ? defaults().threads() : threads;
    }

    private int payload() {
        return orElse(payload, defaults().payload());
    }

    private int history() {
        return orElse(history, defaults().history());
    }

    private int work() {
        return orElse(work, defaults().work());
    }

    /** Null on Flink. */
    private @Nullable Integer vocabulary() {
        return vocabulary == null ? defaults().vocabulary() : vocabulary;
    }

    private int loadPercent() {
        return orElse(load, defaults().loadPercent());
    }

    private static int orElse(@Nullable Integer given, int usual) {
        return given == null ? usual : given;
    }

    /** For what is not given. */
    DesyncDefaults defaults() {
        return DesyncDefaults.of(on, isQuick.getAsBoolean());
    }

    /** Share of the processors that a run is to take. */
    double load() {
        return (double) loadPercent() / PERCENT_MAX;
    }

    /** For each size, a run that seeks the rate, then a round for each pair. */
    List<List<DesyncTrial.Setting>> rounds(int pairs) {
        List<List<DesyncTrial.Setting>> rounds = new ArrayList<>();
        for (int size : subtasks()) {
            for (Duration interval : intervals()) {
                for (int count : threads()) {
                    rounds.add(List.of(uncured(size, interval, count).ofRate()));
                    for (int pair = 1; pair <= pairs; pair++) {
                        rounds.add(round(uncured(size, interval, count), pair));
                    }
                }
            }
        }
        return rounds;
    }

    /**
     * Each round begins with another one: what runs first meets a disk and a page cache that are at
     * rest.
     */
    private List<DesyncTrial.Setting> round(DesyncTrial.Setting uncured, int pair) {
        Stream<DesyncTrial.Setting> cured =
                cures().stream().map(cure -> uncured.with(cure.label(), null, pair));
        List<DesyncTrial.Setting> round =
                new ArrayList<>(
                        sweep == null
                                ? cured.toList()
                                : Stream.concat(cured, swept(sweep, uncured, pair)).toList());
        Collections.rotate(round, 1 - pair);
        return round;
    }

    private Stream<DesyncTrial.Setting> swept(
            DesyncSweep over, DesyncTrial.Setting uncured, int pair) {
        List<Integer> all = values.isEmpty() ? over.usual() : values;
        return all.stream().map(value -> uncured.with(over.label(), value, pair));
    }

    private DesyncTrial.Setting uncured(int size, Duration interval, int count) {
        return new DesyncTrial.Setting(
                on.isKafka() ? on.label() : Backend.ROCKSDB_HEAP_TIMERS.name(),
                DesyncCure.DEFAULT.label(),
                null,
                size,
                interval.toMillis(),
                payload(),
                history(),
                work(),
                count,
                tmpfs == null ? "disk" : "tmpfs",
                loadPercent(),
                vocabulary(),
                1);
    }
}
