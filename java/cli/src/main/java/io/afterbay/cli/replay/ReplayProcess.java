package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Starts the process of a replay, waits for it, and says how to go on if it did not finish. */
final class ReplayProcess {
    /** Live jobs on this machine come first. */
    private static final List<String> LESS_PRIORITY = List.of("nice", "-n", "10");

    private ReplayProcess() {}

    /**
     * @param plan with the checkpoint to start from
     * @param parent where its working directory is made; null for the system's
     * @return the exit code
     */
    static int run(
            ReplayDirectory directory,
            ReplayPlan plan,
            EngineSettings engine,
            @Nullable Path parent)
            throws CommandFailure, InterruptedException {
        try {
            int code =
                    new WorkerLauncher(ReplayWorker.class, engine)
                            .run(
                                    parent,
                                    (files, worker) -> {
                                        Handover handover = JsonHandover.in(files);
                                        handover.plan(
                                                new ReplayWorker.Task(
                                                        directory.path().toString(), plan));
                                        handover.settings(engine);
                                        withLessPriority(worker);
                                        worker.directory(Path.of(plan.workingDirectory()).toFile());
                                    });
            if (code == ExitCode.OK) {
                System.err.println(ReplayReport.of(directory).line());
            } else {
                sayHowToGoOn(directory);
            }
            return code;
        } catch (CommandFailure e) {
            sayHowToGoOn(directory);
            throw e;
        }
    }

    private static void withLessPriority(ProcessBuilder worker) {
        List<String> command = new ArrayList<>(LESS_PRIORITY);
        command.addAll(worker.command());
        worker.command(command);
    }

    private static void sayHowToGoOn(ReplayDirectory directory) throws CommandFailure {
        ReplayReport report = ReplayReport.of(directory);
        System.err.printf(
                "replay %s is %s at %.1f %%%s%n",
                report.plan().id(), report.state(), report.share() * 100, report.way());
    }
}
