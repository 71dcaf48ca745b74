package io.afterbay.experiments.edge;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.Durations;
import io.afterbay.command.Installation;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench edge}. */
@Command(
        name = "edge",
        description = {
            "What it brings to compute a job's windows where its data is made, over slow links.",
            "",
            "A city's cars report to eight districts, each of which is a site. The job runs in halves, with"
                    + " an agent at each site and a gateway in front of Flink, and as a whole, with all"
                    + " reports compressed over links of the same kind: bytes over the links, age of"
                    + " results, memory and processor time of the agents. Rows of both are compared.",
            "",
            "Variants: live (of the whole job, each site's reports go through one stream of zlib),"
                    + " producer (through a Kafka producer at each site, with JSON, zstd and linger 1 s,"
                    + " straight to the broker, whose topic Flink reads), mini-cluster (the whole job"
                    + " runs on files, on a MiniCluster of Flink's in a process of its own: memory and"
                    + " processor time beside the agents'), guessed-watermarks (a control that has to"
                    + " lose rows; on files, without links).",
            "",
            "Runs are appended to bench/results/edge.jsonl round by round. Rounds that are there for this"
                    + " revision and as long are left out, so the experiment can be stopped and"
                    + " continued.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench edge --quick",
            "  ./afterbay bench edge --links 800,8000 --play 60s --pairs 3",
            "  ./afterbay bench edge --links 800 --outage 30s",
            "  ./afterbay bench edge --quick --variants producer",
            "",
            "Exit codes: 0 done, 1 a run failed, a row differs, the links carried more than 0.2x of the",
            "whole job's bytes, an agent had more than 30 MiB or the control lost nothing, 2 wrong",
            "options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchEdgeCommand extends TrialCommand<EdgePlan, EdgeTrial> {
    private static final long KILO = 1_000;
    private static final String PROGRAM = "afterbay-edge";
    private static final String APP = "examples/edge-traffic";

    @Option(
            names = "--links",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Rates of the sites' links in kbit/s, with commas (default: 800,8000; quick: 800).")
    private List<Long> links = List.of();

    @Option(
            names = "--variants",
            paramLabel = "LIST",
            split = ",",
            converter = EdgeVariant.Converter.class,
            description =
                    "What to run, with commas: live, producer, mini-cluster, guessed-watermarks"
                            + " (default: all; quick: all but mini-cluster).")
    private List<EdgeVariant> variants = List.of();

    @Option(
            names = "--play",
            paramLabel = "TIME",
            converter = Durations.class,
            description =
                    "In which the twenty minutes of the city are played (default: 60s; quick: 15s).")
    private @Nullable Duration play;

    @Option(
            names = "--outage",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "For so long no link carries anything (default: off; quick: 2s).")
    private @Nullable Duration outage;

    @Option(
            names = "--build",
            paramLabel = "KIND",
            converter = RustPrograms.Build.Converter.class,
            description =
                    "How the program of the sites is compiled: release or dev (default: release).")
    private RustPrograms.Build build = RustPrograms.Build.RELEASE;

    public BenchEdgeCommand() {
        super(Options.WITHOUT_FLINK);
    }

    @Override
    protected void check(CommandLine command) {
        for (long link : links) {
            if (link < 1) {
                throw new ParameterException(command, "--links %d: use 1 or more".formatted(link));
            }
        }
        if (new HashSet<>(variants).size() < variants.size()) {
            throw new ParameterException(command, "--variants: name each of them once");
        }
        if (play != null && play.isZero()) {
            throw new ParameterException(command, "--play: at least 1ms");
        }
    }

    @Override
    protected TrialKind<EdgePlan, EdgeTrial> kind(CommandLine command) {
        return new EdgeKind(rounds(), build);
    }

    private List<List<EdgePlan>> rounds() {
        List<Long> rates =
                links.isEmpty() ? (arguments.quick ? List.of(800L) : List.of(800L, 8_000L)) : links;
        List<List<EdgePlan>> rounds = new ArrayList<>();
        for (int number = 1; number <= arguments.pairs(); number++) {
            int pair = number;
            List<EdgePlan> round = new ArrayList<>();
            for (EdgeVariant variant : variants()) {
                List<Long> some = variant.isBehindLinks() ? rates : rates.subList(0, 1);
                some.forEach(rate -> round.add(plan(variant, rate * KILO, pair)));
            }
            rounds.add(round);
        }
        return rounds;
    }

    private List<EdgeVariant> variants() {
        if (!variants.isEmpty()) {
            return variants;
        }
        return Stream.of(EdgeVariant.values())
                .filter(one -> !arguments.quick || one != EdgeVariant.MINI_CLUSTER)
                .toList();
    }

    private EdgePlan plan(EdgeVariant variant, long bitsPerS, int pair) {
        Duration playFor = arguments.time(play, Duration.ofSeconds(15), Duration.ofSeconds(60));
        Duration down = arguments.time(outage, Duration.ofSeconds(2), Duration.ZERO);
        return new EdgePlan(
                new EdgeTrial.Setting(
                        variant.label(), bitsPerS, playFor.toMillis(), down.toMillis(), pair),
                Installation.home().resolve(APP).toString(),
                build.folder().resolve(PROGRAM).toString());
    }

    /** Of the process between this one and that with Flink. */
    @Override
    protected @Nullable MemorySplit memoryOfWorker() {
        return MemorySplit.OF_CLIENT;
    }
}
