package io.afterbay.experiments.edge;

import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.Durations;
import io.afterbay.command.Installation;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.TrialKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
                    + " results, memory and processor time of the agents. Rows of both are compared. A"
                    + " control that guesses watermarks has to lose rows.",
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
            "",
            "Exit codes: 0 done, 1 a run failed, a row differs, the links carried more than 0.2x of the",
            "whole job's bytes, an agent had more than 30 MiB or the control lost nothing, 2 wrong",
            "options, 130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchEdgeCommand extends TrialCommand<EdgePlan, EdgeTrial> {
    private static final List<String> REFUSED =
            List.of(
                    "--backends",
                    "--parallelism",
                    "--memory",
                    "--state-memory",
                    "--checkpoint-interval",
                    "-D");
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
                    "How the program of the sites is compiled: release or dev (default: ${DEFAULT-VALUE}).")
    private RustPrograms.Build build = RustPrograms.Build.RELEASE;

    @Override
    protected void check(CommandLine command) {
        for (String refused : REFUSED) {
            if (command.getParseResult().hasMatchedOption(refused)) {
                throw new ParameterException(
                        command, refused + ": it has no meaning here; see --help");
            }
        }
        for (long link : links) {
            if (link < 1) {
                throw new ParameterException(command, "--links %d: use 1 or more".formatted(link));
            }
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
        for (int pair = 1; pair <= arguments.pairs(); pair++) {
            List<EdgePlan> round = new ArrayList<>();
            for (long rate : rates) {
                round.add(plan(EdgeVariant.LIVE, rate * KILO, pair));
            }
            round.add(plan(EdgeVariant.GUESSED, rates.get(0) * KILO, pair));
            rounds.add(round);
        }
        return rounds;
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
