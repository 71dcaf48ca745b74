package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.LowWeight;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.Handover;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts the process of a replay, waits for it, and says how to go on if it did not finish. */
final class ReplayProcess {
    private ReplayProcess() {}

    /**
     * @param plan with the checkpoint to start from
     * @return the exit code
     */
    static int run(ReplayDirectory directory, ReplayPlan plan)
            throws CommandFailure, InterruptedException {
        if (!directory.hold(ReplayLock.Holder.COMMAND)) {
            throw new CommandFailure("replay %s runs already".formatted(plan.id()));
        }
        String parent = plan.temporaryFiles();
        EngineSettings engine = directory.engine();
        boolean isHere = plan.on() == null;
        try (LowWeight weight = isHere ? LowWeight.take() : LowWeight.NONE) {
            if (isHere) {
                directory.priority(Priority.with(weight));
            }
            int code =
                    new WorkerLauncher(ReplayWorker.class, engine)
                            .run(
                                    parent == null ? null : Path.of(parent),
                                    (files, worker) -> {
                                        Handover handover = JsonHandover.in(files);
                                        handover.plan(
                                                new ReplayWorker.Task(
                                                        directory.path().toString(), plan));
                                        handover.settings(engine);
                                        withLessPriority(worker);
                                        worker.directory(Path.of(plan.workingDirectory()).toFile());
                                    });
            sayWhatIsNext(directory);
            return code;
        } catch (CommandFailure e) {
            sayWhatIsNext(directory);
            throw e;
        }
    }

    private static void withLessPriority(ProcessBuilder worker) {
        List<String> command = new ArrayList<>();
        command.addAll(List.of("nice", "-n", Integer.toString(Priority.NICE)));
        command.addAll(worker.command());
        worker.command(command);
    }

    /** Nothing is said of one that was refused, and is gone. */
    private static void sayWhatIsNext(ReplayDirectory directory) throws CommandFailure {
        directory.release();
        if (directory.exists()) {
            ReplayReport report = ReplayReport.of(directory);
            System.err.println(report.line() + report.way());
        }
    }
}
