package io.afterbay.cli;

import io.afterbay.bench.DesyncTrial;
import io.afterbay.workloads.run.Durations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench desync}. */
@Command(
        name = "desync",
        description = {
            "What it does to latency that RocksDB's instances flush and compact together.",
            "",
            "The ranking of the most jammed streets, with ballast in the state of each car, on"
                    + " RocksDB with its timers on the heap. A run as fast as possible gives the"
                    + " maximum rate; then the cures run in turn at a share of it: events come by a"
                    + " schedule, and latencies count from when an event was due. RocksDB's own logs"
                    + " say what ran together. Each run is a process with a warm-up of its own. All"
                    + " must give the same rows.",
            "",
            "Cures: default (none), one-thread (compactions one after the other), low-priority (of"
                    + " the CPU, for compactions), rate-limit (of what is written, 32 MB/s for each"
                    + " instance), and those of Afterbay: spread (another trigger for each"
                    + " instance), gate (no compactions during and just behind a burst of flushes),"
                    + " knee (as many compactions at once as latency bears), all (these three).",
            "",
            "Runs are appended to bench/results/desync.jsonl round by round. Rounds that are there"
                    + " for this revision are left out, so the experiment can be stopped and"
                    + " continued. --backends is refused: it is about RocksDB.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench desync --quick",
            "  ./afterbay bench desync --cures default,spread,gate --subtasks 16 --intervals 8s",
            "  ./afterbay bench desync --cures default,spread --pairs 1 --keep desync-logs",
            "",
            "Exit codes: 0 done, 1 a run failed, rows differed or a cure did not cure, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class BenchDesyncCommand extends TrialCommand<DesyncPlan, DesyncTrial> {
    private static final int FLINK_THREADS = 2;
    private static final int PERCENT_MAX = 100;
    private static final long QUICK_EVENTS = 60_000;

    @Option(
            names = "--cures",
            paramLabel = "LIST",
            split = ",",
            converter = DesyncCure.Converter.class,
            description = "Cures, with commas (default: all of them; quick: default,spread).")
    private List<DesyncCure> cures = List.of();

    @Option(
            names = "--subtasks",
            paramLabel = "LIST",
            split = ",",
            description = "Instances of each keyed stage (default: 16,64; quick: 8).")
    private List<Integer> subtasks = List.of();

    @Option(
            names = "--intervals",
            paramLabel = "LIST",
            split = ",",
            converter = Durations.class,
            description = "Times between checkpoints (default: 8s,16s; quick: 500ms).")
    private List<Duration> intervals = List.of();

    @Option(
            names = "--threads",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Threads of RocksDB in the process, all but one of them for compactions; 2 is"
                            + " Flink's default (default: 2 and the processors and one; quick: 2).")
    private List<Integer> threads = List.of();

    @Option(
            names = "--payload",
            paramLabel = "N",
            description =
                    "Ballast in the state of each car, in bytes (default: 6000; quick: 1000, so that"
                            + " checkpoints come before memtables are full).")
    private @Nullable Integer payload;

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            defaultValue = "75",
            description = "Share of the maximum rate (default: ${DEFAULT-VALUE}).")
    private int loadPercent;

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long each run goes before anything counts (default: 30s; quick: 2s).")
    private @Nullable Duration warmUp;

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description = "Counted time at the rate (default: 5min; quick: 15s).")
    private @Nullable Duration open;

    @Option(
            names = "--keep",
            paramLabel = "DIR",
            description =
                    "Leave RocksDB's logs, latencies and a page of each run in this new directory,"
                            + " for afterbay doctor.")
    private @Nullable Path keep;

    @Override
    int work(CommandLine command) throws IOException {
        return new DesyncWorker(engine, command).run();
    }

    @Override
    void check(CommandLine command) {
        for (String refused : List.of("--backends", "--parallelism", "--checkpoint-interval")) {
            if (command.getParseResult().hasMatchedOption(refused)) {
                throw new ParameterException(command, refused + ": " + instead(refused));
            }
        }
        for (Duration interval : intervals()) {
            engine.checkpointInterval = interval;
            engine.checkInterval(command);
        }
        checkNumbers(command);
        if (keep != null && Files.exists(keep)) {
            throw new ParameterException(
                    command,
                    "--keep %s: it is there already; name a new directory".formatted(keep));
        }
    }

    private static String instead(String refused) {
        return switch (refused) {
            case "--backends" -> "this experiment is about RocksDB";
            case "--parallelism" -> "use --subtasks instead";
            default -> "use --intervals instead";
        };
    }

    private void checkNumbers(CommandLine command) {
        if (subtasks().stream().anyMatch(n -> n < 1 || n > EngineArguments.MAX_PARALLELISM)) {
            throw new ParameterException(
                    command,
                    "--subtasks: use numbers from 1 to " + EngineArguments.MAX_PARALLELISM);
        }
        if (threads().stream().anyMatch(n -> n < FLINK_THREADS)) {
            throw new ParameterException(
                    command,
                    "--threads: use 2 or more, one for flushes and the rest for compactions");
        }
        if (payloadBytes() < 0) {
            throw new ParameterException(
                    command, "--payload %d: use 0 or more".formatted(payloadBytes()));
        }
        if (loadPercent < 1 || loadPercent > PERCENT_MAX) {
            throw new ParameterException(command, "--load %d: use 1 to 100".formatted(loadPercent));
        }
    }

    private List<DesyncCure> cures() {
        if (!cures.isEmpty()) {
            return cures;
        }
        return arguments.quick
                ? List.of(DesyncCure.DEFAULT, DesyncCure.SPREAD)
                : List.of(DesyncCure.values());
    }

    private List<Integer> subtasks() {
        return orUsual(subtasks, List.of(8), List.of(16, 64));
    }

    private List<Duration> intervals() {
        return orUsual(
                intervals,
                List.of(Duration.ofMillis(500)),
                List.of(Duration.ofSeconds(8), Duration.ofSeconds(16)));
    }

    private List<Integer> threads() {
        int processors = Runtime.getRuntime().availableProcessors();
        return orUsual(
                threads,
                List.of(FLINK_THREADS),
                List.of(FLINK_THREADS, Math.max(3, processors + 1)));
    }

    private int payloadBytes() {
        if (payload != null) {
            return payload;
        }
        return arguments.quick ? 1_000 : 6_000;
    }

    private <T> List<T> orUsual(List<T> given, List<T> ofQuick, List<T> ofFull) {
        if (!given.isEmpty()) {
            return given;
        }
        return arguments.quick ? ofQuick : ofFull;
    }

    @Override
    TrialKind<DesyncPlan, DesyncTrial> kind(CommandLine command) {
        return new DesyncKind(rounds());
    }

    /** For each size one run that gives the maximum rate, then a round for each pair. */
    private List<List<DesyncPlan>> rounds() {
        List<List<DesyncPlan>> rounds = new ArrayList<>();
        for (int size : subtasks()) {
            for (Duration interval : intervals()) {
                for (int count : threads()) {
                    addRounds(rounds, size, interval, count);
                }
            }
        }
        return rounds;
    }

    private void addRounds(List<List<DesyncPlan>> rounds, int size, Duration interval, int count) {
        DesyncTrial.Setting first = setting(DesyncCure.DEFAULT, size, interval, count, 1);
        rounds.add(List.of(plan(DesyncKind.maximum(first))));
        for (int pair = 1; pair <= arguments.pairs(); pair++) {
            List<DesyncPlan> round = new ArrayList<>();
            for (DesyncCure cure : cures()) {
                round.add(plan(setting(cure, size, interval, count, pair)));
            }
            rounds.add(round);
        }
    }

    private DesyncTrial.Setting setting(
            DesyncCure cure, int size, Duration interval, int count, int pair) {
        return new DesyncTrial.Setting(
                Backend.ROCKSDB_HEAP_TIMERS.name(),
                cure.label(),
                size,
                interval.toMillis(),
                payloadBytes(),
                count,
                loadPercent,
                pair);
    }

    private DesyncPlan plan(DesyncTrial.Setting setting) {
        return new DesyncPlan(
                setting,
                0,
                arguments.time(warmUp, Duration.ofSeconds(2), Duration.ofSeconds(30)).toMillis(),
                arguments.quick ? QUICK_EVENTS : 0,
                arguments.time(open, Duration.ofSeconds(15), Duration.ofMinutes(5)).toMillis(),
                keep == null || setting.loadPercent() == 0 ? null : folder(keep, setting));
    }

    private static String folder(Path keep, DesyncTrial.Setting setting) {
        String name =
                "%d-subtasks-%d-ms-%d-threads-%s-%d"
                        .formatted(
                                setting.subtasks(),
                                setting.intervalMs(),
                                setting.threads(),
                                setting.cure(),
                                setting.pair());
        return keep.resolve(name).toAbsolutePath().toString();
    }
}
