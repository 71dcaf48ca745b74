package io.afterbay.experiments;

import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.cli.process.WorkerWatch;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import io.afterbay.handover.ProcessReport;
import io.afterbay.handover.WorkerStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A process with libraries of its own, which a worker starts. What it says of how far it is, the
 * worker says too.
 *
 * @param engine its name
 * @param directory of the process
 * @param log that it writes
 * @param heap that it has
 * @param advice for one that ran out of it
 */
public record ThirdProcess(String engine, Path directory, Path log, String heap, String advice) {
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** What starts it. */
    @FunctionalInterface
    public interface Launcher {
        ProcessBuilder builder() throws CommandFailure;
    }

    /**
     * Runs it to its end.
     *
     * @param worker of the process that starts it
     * @throws CommandFailure saying why there is no report, or why the run is no good
     */
    public <R extends ProcessReport> R run(
            Launcher launcher, Object plan, Class<R> type, Handover worker)
            throws CommandFailure, IOException, InterruptedException {
        Handover handover = JsonHandover.in(Files.createDirectories(directory));
        handover.plan(plan);
        WorkerWatch.Outcome outcome =
                WorkerWatch.watch(launcher.builder(), PATIENCE, () -> false, WorkerStatus::say);
        R report = handover.trial(type).orElseThrow(() -> new CommandFailure(problem(outcome)));
        worker.cpuOfChildren(Duration.ofMillis(report.cpuMs()));
        String problem = report.problem();
        if (problem != null) {
            throw new CommandFailure(problem);
        }
        return report;
    }

    private String problem(WorkerWatch.Outcome outcome) {
        if (outcome.end() == WorkerWatch.End.HUNG) {
            return "no progress for %d s; see the log with --verbose"
                    .formatted(PATIENCE.toSeconds());
        }
        return outcome.exitCode() == ExitCode.JVM_OUT_OF_MEMORY
                ? "the process with %s ran out of heap (%s); %s".formatted(engine, heap, advice)
                : "the process with %s ended with code %d%s"
                        .formatted(engine, outcome.exitCode(), WorkerLog.lastWords(log));
    }
}
