package io.afterbay.experiments.desync;

import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.command.Durations;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench desync}. */
@Command(
        name = "desync",
        description = {
            "What it does to latency that RocksDB's instances flush and compact together.",
            "",
            "The ranking of the most jammed streets, with the last reports of each car and their"
                    + " ballast in its state, on RocksDB with its timers on the heap and memtables"
                    + " that only checkpoints flush. A first run seeks the rate that takes a share of"
                    + " the processors; then the cures run in turn at that rate: reports come by a"
                    + " schedule, and the latency of each counts from when it was due until it is in"
                    + " the state of its street. RocksDB's own logs say what ran together. Each run"
                    + " is a process with a warm-up of its own. All must give the same rows.",
            "",
            "With --on kafka-streams-4.2 or -4.3, it is word count instead, with its own process for"
                    + " Kafka Streams, and one for broker, words and reader; the latency of a word"
                    + " ends when its count is read, and -D takes settings of Kafka Streams.",
            "",
            "Cures: default (none), one-thread (compactions one after the other), low-priority (of"
                    + " the CPU, for compactions), rate-limit (of what is written, 32 MB/s for each"
                    + " instance), and those of Afterbay: spread (another trigger for each"
                    + " instance), gate (no compactions during and just behind a burst of flushes),"
                    + " knee (as many compactions at once as latency bears), flushes (as many flushes at once as"
                    + " processors), all (these four), tuned (spread, the gate with 300 ms after a"
                    + " burst, and four threads for flushes); and afterbay:"
                    + " its state backend instead of RocksDB, which flushes nothing at checkpoints."
                    + " For what syncs to the disk cost: no-sync and tuned-no-sync, default and"
                    + " tuned in a process with libeatmydata, in which nothing is synced.",
            "",
            "Runs are appended to bench/results/desync.jsonl round by round. Rounds that are there"
                    + " for this revision, as long and with as much memory, are left out, so the experiment can be stopped and"
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
            "  ./afterbay bench desync --on kafka-streams-4.2",
            "  ./afterbay bench desync --on kafka-streams-4.2 --sweep delay",
            "  ./afterbay bench desync --sweep delay --subtasks 16 --intervals 8s --tmpfs",
            "",
            "Exit codes: 0 done, 1 a run failed, rows differed, a cure did not cure or, with --quick,",
            "there was nothing to cure, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchDesyncCommand extends TrialCommand<DesyncPlan, DesyncTrial> {
    /** Checkpoints of an attempt to find the rate: as many as bring the compactions of all. */
    private static final int CYCLE = 4;

    @Mixin private final DesyncArguments desync = new DesyncArguments(() -> arguments.quick);

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
            description = "Counted time at the rate (default: 5min; quick: 30s).")
    private @Nullable Duration open;

    @Option(
            names = "--keep",
            paramLabel = "DIR",
            description =
                    "Leave RocksDB's logs, latencies and a page of each run in this new directory,"
                            + " for afterbay doctor.")
    private @Nullable Path keep;

    @Override
    protected void check(CommandLine command) {
        for (String refused : List.of("--backends", "--parallelism", "--checkpoint-interval")) {
            if (command.getParseResult().hasMatchedOption(refused)) {
                throw new ParameterException(command, refused + ": " + instead(refused));
            }
        }
        desync.check(command, super.engine());
        if (keep != null && Files.exists(keep)) {
            throw new ParameterException(
                    command,
                    "--keep %s: it is there already; name a new directory".formatted(keep));
        }
    }

    @Override
    protected EngineOptions engine() {
        return desync.engine(super.engine());
    }

    private static String instead(String refused) {
        return switch (refused) {
            case "--backends" -> "this experiment is about RocksDB";
            case "--parallelism" -> "use --subtasks instead";
            default -> "use --intervals instead";
        };
    }

    @Override
    protected TrialKind<DesyncPlan, DesyncTrial> kind(CommandLine command) {
        return new DesyncKind(
                desync.rounds(arguments.pairs()).stream()
                        .map(round -> round.stream().map(this::plan).toList())
                        .toList(),
                arguments.quick);
    }

    private DesyncPlan plan(DesyncTrial.Setting setting) {
        return new DesyncPlan(
                setting,
                0,
                orElse(warmUp, desync.defaults().warmUp()).toMillis(),
                CYCLE * setting.intervalMs(),
                desync.load(),
                orElse(open, desync.defaults().open()).toMillis(),
                keep == null || setting.isOfRate() ? null : folder(keep, setting));
    }

    private static Duration orElse(@Nullable Duration given, Duration usual) {
        return given == null ? usual : given;
    }

    private static String folder(Path keep, DesyncTrial.Setting setting) {
        String name =
                "%s%d-subtasks-%d-ms-%d-threads-%s-%d"
                        .formatted(
                                setting.vocabulary() == null ? "" : setting.backend() + "-",
                                setting.subtasks(),
                                setting.intervalMs(),
                                setting.threads(),
                                setting.caseName().replace(' ', '-'),
                                setting.pair());
        return keep.resolve(name).toAbsolutePath().toString();
    }
}
