package io.afterbay.experiments;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.Trial;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.IsolatedRuns;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.process.CountedRounds;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.MachineLoad;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.Versions;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandText;
import io.afterbay.command.ExitCode;
import io.afterbay.command.OutputFiles;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import io.afterbay.handover.Handover;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * The first process of an experiment that makes its runs itself: each in a process of its own, in
 * rounds that are recorded one by one, so that it can be stopped and continued.
 */
final class TrialExperiment<P extends TrialPlan, R extends Trial> {
    private static final Path STANDARD_OUTPUT = Path.of("-");

    private final TrialKind<P, R> kind;
    private final TrialArguments arguments;
    private final CommandLine command;
    private final IsolatedRuns worker;
    private final @Nullable MemorySplit memoryOfWorker;
    private final EngineOptions engine;
    private final MachineLoad load = new MachineLoad();
    private final AtomicInteger signal = new AtomicInteger();
    private final ProgressLine progress = new ProgressLine(System.err, Terminal.isStandardError());
    private final String revision = Versions.revision();
    private final List<RecordedTrial<R>> trials = new ArrayList<>();
    private final List<List<R>> done = new ArrayList<>();
    private final List<R> known = new ArrayList<>();
    private final CountedRounds rounds;

    /**
     * @param memoryOfWorker null for that of the options
     */
    TrialExperiment(
            TrialKind<P, R> kind,
            TrialArguments arguments,
            EngineOptions engine,
            @Nullable MemorySplit memoryOfWorker,
            CommandLine command) {
        this.kind = kind;
        this.arguments = arguments;
        this.engine = engine;
        this.memoryOfWorker = memoryOfWorker;
        this.command = command;
        this.rounds = new CountedRounds(load, arguments.repeats());
        this.worker = new IsolatedRuns(engine, null, load, () -> signal.get() != 0);
    }

    private List<String> args() {
        return command.getCommandSpec().root().commandLine().getParseResult().originalArgs();
    }

    private String typed() {
        return CommandText.of(Stream.concat(Stream.of("bench"), args().stream()).toList());
    }

    /** Runs what is not recorded for this revision; returns the exit code. */
    int run() throws CommandFailure, InterruptedException, IOException {
        check();
        kind.prepare();
        Signals.handle(code -> signal.compareAndSet(0, code));
        List<List<P>> missing = missing();
        for (int number = 1; number <= missing.size(); number++) {
            String title = "round %d of %d".formatted(number, missing.size());
            if (!round(title, missing.get(number - 1))) {
                progress.say("interrupted; what is complete is recorded");
                break;
            }
        }
        progress.clear();
        return report();
    }

    private void check() throws CommandFailure {
        for (List<P> round : kind.rounds()) {
            for (P plan : round) {
                settings(plan);
            }
        }
        if (!STANDARD_OUTPUT.equals(arguments.json)) {
            new OutputFiles().check("--json", arguments.json);
        }
    }

    private List<List<P>> missing() throws IOException {
        if (arguments.quick || revision.endsWith(Versions.DIRTY)) {
            return kind.rounds();
        }
        RecordedRounds<P, R> recorded =
                RecordedRounds.read(kind, arguments.results, revision, typed());
        known.addAll(recorded.runs());
        List<List<P>> missing = recorded.missing();
        int left = kind.rounds().size() - missing.size();
        if (left > 0) {
            progress.say("%d rounds are recorded for revision %s".formatted(left, revision));
        }
        return missing;
    }

    /** False if the user stopped it. */
    private boolean round(String title, List<P> plans)
            throws CommandFailure, InterruptedException, IOException {
        Round round = new Round(title);
        Optional<CountedRounds.Counted<R>> counted = rounds.run(plans, round);
        if (counted.isPresent()) {
            add(counted.get().runs(), round.provenance(counted.get().otherCores()));
        }
        return counted.isPresent();
    }

    private final class Round implements CountedRounds.Runs<P, R> {
        private final String title;
        private String date = "";
        private double loadBefore;

        Round(String title) {
            this.title = title;
        }

        @Override
        public void begin() {
            date = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
            loadBefore = ProcessFigures.loadAverage();
        }

        @Override
        public Optional<R> run(P plan) throws CommandFailure, InterruptedException {
            String name = title + ": " + plan.title();
            Optional<R> run = TrialExperiment.this.run(plan, name);
            run.ifPresent(done -> progress.say(name + ": " + outcome(done)));
            return run;
        }

        private String outcome(R done) {
            String failure = done.failure();
            return failure == null ? kind.describe(done) : "FAILED: " + failure;
        }

        @Override
        public List<String> problems(List<R> round) {
            return kind.allProblems(round);
        }

        @Override
        public void disturbed(List<R> round, double otherCores) {
            progress.say(
                    "%s runs again: other work used %.2f processors".formatted(title, otherCores));
        }

        Provenance provenance(OptionalDouble other) {
            return TrialExperiment.this.provenance(date, loadBefore, other);
        }
    }

    private Optional<R> run(P plan, String name) throws CommandFailure, InterruptedException {
        P ready;
        Map<String, String> environment;
        try {
            ready = kind.ready(plan, known);
            environment = ready.environment();
        } catch (CommandFailure e) {
            return Optional.of(kind.failed(plan, CommandFailure.reason(e)));
        }
        EngineSettings settings = settings(ready).withoutRestarts();
        return worker.run(
                new WorkerLauncher(
                        kind.worker(ready),
                        settings,
                        memoryOfWorker == null ? settings.memory() : memoryOfWorker,
                        environment),
                new Errand(ready, settings),
                status -> show(name, status));
    }

    /** Wrong ones are the command's usage errors. */
    private EngineSettings settings(P plan) {
        return plan.engine(engine).settings(command, Backend.named(plan.backend()));
    }

    private void show(String name, WorkerStatus status) {
        if (progress.isDue()) {
            progress.show("%s, %s, %,d events".formatted(name, status.phase(), status.events()));
        }
    }

    private final class Errand implements IsolatedRuns.Errand<R> {
        private final P plan;
        private final EngineSettings settings;

        Errand(P plan, EngineSettings settings) {
            this.plan = plan;
            this.settings = settings;
        }

        @Override
        public void prepare(Path directory) throws IOException {
            Handover handover = JsonHandover.in(directory);
            handover.plan(plan);
            handover.settings(settings);
        }

        @Override
        public R collect(Path directory, @Nullable String problem) {
            Handover handover = JsonHandover.in(directory);
            load.own(handover.cpuOfChildren());
            Optional<R> found = handover.trial(kind.type());
            if (found.isEmpty()) {
                return kind.failed(plan, problem == null ? "it found out nothing" : problem);
            }
            return problem == null || !found.get().finished()
                    ? found.get()
                    : kind.failed(found.get(), problem);
        }
    }

    private Provenance provenance(String date, double loadBefore, OptionalDouble other) {
        return new Provenance(
                kind.experiment(),
                revision,
                Map.of(
                        "afterbay", Versions.afterbay(),
                        "flink", Versions.flink(),
                        "java", Versions.java()),
                typed(),
                date,
                loadBefore,
                ProcessFigures.loadAverage(),
                other.isPresent() ? other.getAsDouble() : null);
    }

    private void add(List<R> runs, Provenance provenance) throws IOException {
        List<RecordedTrial<R>> round =
                runs.stream().map(run -> new RecordedTrial<>(provenance, run)).toList();
        trials.addAll(round);
        known.addAll(runs);
        done.add(runs);
        if (!arguments.quick) {
            RecordedTrial.append(arguments.results, round);
        }
    }

    private int report() throws IOException {
        boolean jsonOnly = STANDARD_OUTPUT.equals(arguments.json);
        PrintStream people = jsonOnly ? System.err : System.out;
        if (!trials.isEmpty()) {
            people.print(kind.report(trials));
        }
        if (jsonOnly) {
            System.out.print(RecordedTrial.json(trials));
            System.out.flush();
        } else if (arguments.json != null) {
            Files.writeString(arguments.json, RecordedTrial.json(trials));
        }
        List<String> problems =
                done.stream().flatMap(round -> kind.allProblems(round).stream()).toList();
        problems.forEach(problem -> System.err.println("afterbay: " + problem));
        if (signal.get() != 0) {
            return signal.get();
        }
        return problems.isEmpty() ? ExitCode.OK : ExitCode.FAILURE;
    }
}
