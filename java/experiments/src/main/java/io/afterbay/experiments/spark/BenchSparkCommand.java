package io.afterbay.experiments.spark;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench spark}. */
@Command(
        name = "spark",
        description = {
            "What commits cost the micro-batches of Spark, and what is left with Afterbay.",
            "",
            "Four queries with state in RocksDB (MiSA, Cluster Computing '25) on position reports and"
                    + " task events, which come by a schedule, whatever the query does. Each run is a"
                    + " process with Spark of its own, with a warm-up; the time of a batch counts"
                    + " from when its records are chosen, and that of its oldest record from when it"
                    + " was due. Rows of every run are compared with those that plain Java says."
                    + " Variants run in turn, and with each pair another one begins.",
            "",
            "Variants: snapshot (RocksDB's checkpoints are copied at the end of each batch: Spark's"
                    + " default), changelog (and format 2: the strongest of Spark), async-upload"
                    + " (snapshots copied behind the task, up to the next commit), deadline"
                    + " (snapshots in batches that are cut by a deadline, which is the trigger, or"
                    + " 3s), strict (Afterbay), pipelined (the next batch runs while the last one is"
                    + " published), strict-staggered and pipelined-staggered (and partitions write"
                    + " their snapshots in turns), control (changelog, and one record does not come:"
                    + " its rows have to be found wrong).",
            "",
            "Runs are appended to bench/results/spark.jsonl round by round. Rounds that are there for"
                    + " this revision, as long and with as much memory, are left out, so the experiment can be stopped and continued."
                    + " --memory is the heap of the process with Spark (default: 2g), -D takes"
                    + " settings of Spark.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench spark --quick",
            "  ./afterbay bench spark --queries lr4 --rates 1500,2500,10000 --pairs 3",
            "  ./afterbay bench spark --queries lr2,cm1 --triggers 3s,5s --partitions 4,8,16",
            "  ./afterbay bench spark --variants snapshot,async-upload,deadline,strict --triggers 3s",
            "  ./afterbay bench spark --search --queries cm2 --pairs 3",
            "",
            "Exit codes: 0 done, 1 a run failed, rows were wrong or the control's were right,",
            "2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchSparkCommand extends TrialCommand<SparkPlan, SparkTrial> {
    private static final String PREFIX = "spark.";

    @Mixin private final SparkArguments spark = new SparkArguments(() -> arguments.quick);

    @Override
    protected void check(CommandLine command) {
        for (String refused :
                List.of("--backends", "--parallelism", "--checkpoint-interval", "--state-memory")) {
            if (command.getParseResult().hasMatchedOption(refused)) {
                throw new ParameterException(command, refused + ": " + instead(refused));
            }
        }
        engine().properties().keySet().stream()
                .filter(key -> !key.startsWith(PREFIX))
                .findFirst()
                .ifPresent(
                        key -> {
                            throw new ParameterException(
                                    command, "-D %s: use settings of Spark".formatted(key));
                        });
        spark.check(command);
    }

    private static String instead(String refused) {
        return switch (refused) {
            case "--backends" -> "use --variants instead";
            case "--parallelism" -> "use --partitions instead";
            case "--checkpoint-interval" -> "use --triggers instead";
            default -> "Spark's RocksDB has none to itself; use -D";
        };
    }

    @Override
    protected TrialKind<SparkPlan, SparkTrial> kind(CommandLine command) {
        return new SparkKind(
                spark.rounds(arguments.pairs(), SparkLauncher.heap(engine().memory())),
                spark.batchesMin());
    }

    /** Of the process between this one and that with Spark. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
