package io.afterbay.cli.run;

import io.afterbay.cli.job.SummaryText;
import io.afterbay.cli.process.Interruption;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.KafkaClassPath;
import io.afterbay.cli.process.KafkaLauncher;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.cli.process.WorkerWatch;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import io.afterbay.handover.Handover;
import io.afterbay.handover.WorkerStatus;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.WordCountReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Runs word count in a process of its own with libraries of its own ({@link KafkaClassPath}), shows
 * how far it is, and reports.
 */
final class WordCountRun {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final String LOG = "worker.log";
    private static final String HEAP = "-Xmx512m";

    private final @Nullable Path parent;
    private final boolean verbose;
    private final @Nullable Path json;
    private final Interruption interruption = new Interruption();
    private final ProgressLine progress = new ProgressLine(System.err, Terminal.isStandardError());

    /**
     * @param parent of its working directory, or null for the usual one
     */
    WordCountRun(@Nullable Path parent, boolean verbose, @Nullable Path json) {
        this.parent = parent;
        this.verbose = verbose;
        this.json = json;
    }

    /** The exit code. */
    int run(WordCountPlan plan) throws CommandFailure, InterruptedException {
        interruption.listen();
        Path directory = WorkDirectory.create(parent);
        try {
            Handover handover = JsonHandover.in(directory);
            handover.plan(plan);
            WorkerWatch.Outcome outcome =
                    WorkerWatch.watch(
                            builder(directory),
                            PATIENCE,
                            interruption::isRaised,
                            status -> show(plan, status));
            progress.clear();
            if (interruption.isRaised()) {
                return interrupted(plan);
            }
            return report(plan, outcome, handover);
        } catch (IOException e) {
            throw new CommandFailure("cannot start the worker: " + CommandFailure.reason(e), e);
        } finally {
            WorkDirectory.remove(directory);
        }
    }

    private ProcessBuilder builder(Path directory) throws CommandFailure {
        return KafkaLauncher.builder(
                "WordCountWorker", HEAP, directory, directory, verbose, directory.resolve(LOG));
    }

    private void show(WordCountPlan plan, WorkerStatus status) {
        if (progress.isDue()) {
            progress.show(
                    String.format(
                            Locale.ROOT,
                            "%s: %,d of %,d words, %,d counts",
                            status.phase(),
                            status.events(),
                            plan.words(),
                            status.rows()));
        }
    }

    private int interrupted(WordCountPlan plan) {
        String left =
                plan.bootstrap() == null
                        ? ""
                        : "; topics %s-* stay on %s: delete them by hand"
                                .formatted(plan.name(), plan.bootstrap());
        System.err.println("interrupted" + left);
        return interruption.exitCode();
    }

    private int report(WordCountPlan plan, WorkerWatch.Outcome outcome, Handover handover)
            throws CommandFailure {
        if (outcome.end() == WorkerWatch.End.HUNG) {
            throw new CommandFailure(
                    "no progress for %d s; killed. See its log with --verbose"
                            .formatted(PATIENCE.toSeconds()));
        }
        WordCountReport report =
                handover.trial(WordCountReport.class)
                        .orElseThrow(() -> new CommandFailure(problem(handover, outcome)));
        if (json != null) {
            WordCountSummary.write(json, plan, report);
        }
        if (report.results() > 0) {
            WordCountSummary.print(new SummaryText(System.out), plan, report);
            System.out.flush();
        }
        if (report.problem() != null) {
            throw new CommandFailure(report.problem());
        }
        return ExitCode.OK;
    }

    private static String problem(Handover handover, WorkerWatch.Outcome outcome) {
        return switch (outcome.exitCode()) {
            case ExitCode.JVM_OUT_OF_MEMORY ->
                    "the worker ran out of heap ("
                            + HEAP
                            + "); use fewer --partitions or --threads";
            case ExitCode.KILLED -> "the worker was killed (SIGKILL), or lost its first process";
            default ->
                    "the worker ended with code "
                            + outcome.exitCode()
                            + WorkerLog.lastWords(handover.directory().resolve(LOG));
        };
    }
}
