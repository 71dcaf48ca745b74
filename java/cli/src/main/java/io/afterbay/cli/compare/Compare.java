package io.afterbay.cli.compare;

import io.afterbay.bench.Comparison;
import io.afterbay.bench.ComparisonJson;
import io.afterbay.bench.ComparisonPage;
import io.afterbay.bench.ComparisonTable;
import io.afterbay.bench.Ratios;
import io.afterbay.bench.Run;
import io.afterbay.bench.Timeline;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.engine.IsolatedRuns;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.process.MachineLoad;
import io.afterbay.cli.process.MemoryCgroup;
import io.afterbay.cli.process.Signals;
import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandText;
import io.afterbay.command.ExitCode;
import io.afterbay.command.OutputFiles;
import io.afterbay.command.Terminal;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** The first process of a comparison: starts the workers, and tells what they found out. */
public final class Compare {
    /** As {@code --json}: to standard output, and what is for people to standard error. */
    private static final Path STANDARD_OUTPUT = Path.of("-");

    private final CompareOptions arguments;
    private final EngineOptions options;
    private final CommandLine command;
    private final AtomicInteger signal = new AtomicInteger();

    /**
     * @param command whose usage errors wrong options are
     */
    public Compare(CompareOptions arguments, EngineOptions options, CommandLine command) {
        this.arguments = arguments;
        this.options = options;
        this.command = command;
    }

    /**
     * What a comparison is called.
     *
     * @param title what was compared
     * @param typed the command line
     */
    public record Names(String title, String typed) {}

    /** A comparison, and the exit code of a command that has made only this one. */
    public record Result(Comparison comparison, int exitCode) {}

    /** That of a command of its own; returns the exit code. */
    int run(Target target) throws CommandFailure, InterruptedException, IOException {
        List<String> typed =
                command.getCommandSpec().root().commandLine().getParseResult().originalArgs();
        return run(target, new Names(target.title(command), CommandText.of(typed))).exitCode();
    }

    /** Reports to people, and into files, too. */
    public Result run(Target full, Names names)
            throws CommandFailure, InterruptedException, IOException {
        Target target = arguments.quick() ? full.limitedTo(CompareOptions.QUICK_EVENTS) : full;
        check(target);
        MachineLoad load = new MachineLoad();
        CompareEnvironment environment =
                new CompareEnvironment(target, arguments, options, command, load);
        Signals.handle(code -> signal.compareAndSet(0, code));
        CompareProgress progress =
                new CompareProgress(System.err, Terminal.isStandardError(), arguments);
        Rounds rounds = new Rounds(arguments, workers(target, load)::run, progress, load);
        if (!rounds.run()) {
            progress.say("interrupted; the report covers the runs that were complete");
        }
        return report(target, names, rounds, environment);
    }

    private BackendRuns workers(Target target, MachineLoad load) {
        return new BackendRuns(
                new IsolatedRuns(options, cgroupLimit(), load, () -> signal.get() != 0),
                backend -> options.settings(command, backend),
                target);
    }

    private @Nullable ByteSize cgroupLimit() {
        return arguments.cgroupLimit(
                options.memorySplit(command, arguments.backends().get(0)).total());
    }

    private void check(Target target) throws CommandFailure {
        arguments.check(command);
        options.checkInterval(command);
        for (Backend backend : arguments.backends()) {
            options.memorySplit(command, backend);
        }
        OutputFiles files = new OutputFiles();
        files.check("--page", page(target));
        if (!STANDARD_OUTPUT.equals(arguments.json())) {
            files.check("--json", arguments.json());
        }
        ByteSize limit = cgroupLimit();
        if (limit != null) {
            MemoryCgroup.create(limit).close();
        }
    }

    private Path page(Target target) {
        return arguments.page() == null
                ? Path.of("afterbay-compare-" + target.name() + ".html")
                : arguments.page();
    }

    private Result report(Target target, Names names, Rounds rounds, CompareEnvironment environment)
            throws CommandFailure {
        Outputs outputs = new Outputs(rounds.all());
        Comparison comparison =
                comparison(
                        target, names, rounds, environment.entries(rounds.otherCores()), outputs);
        boolean toStandardOutput = STANDARD_OUTPUT.equals(arguments.json());
        PrintStream people = toStandardOutput ? System.err : System.out;
        people.println();
        people.print(ComparisonTable.render(comparison));
        write(comparison, page(target), people);
        warn(rounds, outputs);
        return new Result(
                comparison,
                signal.get() == 0 ? exitCode(comparison, target.isForeign()) : signal.get());
    }

    private Comparison comparison(
            Target target,
            Names names,
            Rounds rounds,
            Map<String, String> environment,
            Outputs outputs) {
        List<Run> runs = rounds.counted().stream().map(Findings::run).toList();
        return new Comparison(
                names.title(),
                names.typed(),
                environment,
                target.isForeign() ? "markers" : "results",
                rounds.ratePerS() == 0 ? null : rounds.ratePerS(),
                runs,
                Ratios.of(runs),
                outputs.areEqual(),
                timelines(rounds.counted()));
    }

    /** Of each backend, the run in the middle by its P99.9. */
    private List<Timeline> timelines(List<Findings> counted) {
        List<Timeline> timelines = new ArrayList<>();
        for (Backend backend : arguments.backends()) {
            List<Timeline> sorted =
                    counted.stream()
                            .filter(one -> one.run().backend().equals(backend.label()))
                            .filter(one -> one.run().finished() && one.timeline() != null)
                            .sorted(Comparator.comparingDouble(Compare::p999Ms))
                            .map(one -> Objects.requireNonNull(one.timeline()))
                            .toList();
            if (!sorted.isEmpty()) {
                timelines.add(sorted.get(sorted.size() / 2));
            }
        }
        return timelines;
    }

    private static double p999Ms(Findings findings) {
        Double p999Ms = findings.run().p999Ms();
        return p999Ms == null ? 0 : p999Ms;
    }

    private void write(Comparison comparison, Path page, PrintStream people) throws CommandFailure {
        Path json = arguments.json();
        try {
            if (STANDARD_OUTPUT.equals(json)) {
                System.out.print(ComparisonJson.render(comparison));
                System.out.flush();
            } else if (json != null) {
                ComparisonJson.write(json, comparison);
            }
            ComparisonPage.write(page, comparison);
        } catch (IOException e) {
            throw new CommandFailure(
                    "the report cannot be written: %s; make room or choose another place"
                            .formatted(CommandFailure.reason(e)),
                    e);
        }
        people.println("page: " + page.toAbsolutePath().normalize());
    }

    private static void warn(Rounds rounds, Outputs outputs) {
        List<Run> runs = rounds.counted().stream().map(Findings::run).toList();
        long failed = runs.stream().filter(run -> !run.finished()).count();
        if (failed > 0) {
            System.err.println(
                    "afterbay: %d of %d runs failed, for the reasons in the report; they are in no ratio"
                            .formatted(failed, runs.size()));
        }
        if (rounds.otherCores().orElse(0) > MachineLoad.OTHER_CORES_MAX) {
            System.err.println(
                    "afterbay: other work used more than %.1f processors meanwhile; run again on a quieter machine before believing a figure"
                            .formatted(MachineLoad.OTHER_CORES_MAX));
        }
        outputs.differences()
                .forEach(line -> System.err.println("afterbay: outputs differ, " + line));
    }

    /**
     * Success if all runs finished, gave the same rows, and can be compared.
     *
     * @param rowsMayBeUnknown whether it is no failure if nobody knows the outputs
     */
    public static int exitCode(Comparison comparison, boolean rowsMayBeUnknown) {
        Boolean known = comparison.outputsEqual();
        boolean equal = known == null ? rowsMayBeUnknown : known;
        boolean finished = comparison.runs().stream().allMatch(Run::finished);
        boolean paired =
                comparison.ratios().values().stream().anyMatch(figures -> !figures.isEmpty());
        return equal && finished && paired ? ExitCode.OK : ExitCode.FAILURE;
    }
}
