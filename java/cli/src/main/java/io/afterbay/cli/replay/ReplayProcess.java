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
        int nice = isHere ? directory.nice() : Nice.LIKE_OTHERS;
        try (LowWeight weight = nice == Nice.LIKE_OTHERS ? LowWeight.NONE : LowWeight.take()) {
            if (isHere) {
                directory.priority(Priority.of(nice, weight));
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
                                        worker.command(nice(nice, worker.command()));
                                        worker.directory(Path.of(plan.workingDirectory()).toFile());
                                    });
            sayWhatIsNext(directory);
            return code;
        } catch (CommandFailure e) {
            sayWhatIsNext(directory);
            throw e;
        }
    }

    private static List<String> nice(int nice, List<String> worker) {
        if (nice == Nice.LIKE_OTHERS) {
            return worker;
        }
        List<String> command = new ArrayList<>();
        command.addAll(List.of("nice", "-n", Integer.toString(nice)));
        command.addAll(worker);
        return command;
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
