package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.run.EmbeddedWorker;
import io.afterbay.cli.run.RunWorker;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.nio.file.Path;

/** The process of a replay. */
final class ReplayWorker {
    private ReplayWorker() {}

    /**
     * @param directory of the replay
     * @param plan as it is there, with the checkpoint to start from
     */
    record Task(String directory, ReplayPlan plan) {}

    public static void main(String[] args) throws Exception {
        RunWorker.end(run(JsonHandover.in(WorkDirectory.ofWorker().orElseThrow())));
    }

    private static int run(Handover handover) {
        try {
            Task task = handover.plan(Task.class);
            try {
                return run(task, handover.settings(EngineSettings.class));
            } catch (CommandFailure e) {
                System.err.println(task.plan().run().command() + ": " + e.getMessage());
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
        return ExitCode.FAILURE;
    }

    private static int run(Task task, EngineSettings engine) throws Exception {
        ReplayDirectory directory = ReplayDirectory.of(Path.of(task.directory()));
        if (!directory.hold(ReplayDirectory.Holder.WORKER)) {
            throw new CommandFailure("replay %s runs already".formatted(task.plan().id()));
        }
        ReplayCompanion companion = new ReplayCompanion(directory, task.plan());
        try {
            int code = new EmbeddedWorker(task.plan().run(), engine, companion).run();
            if (code == ExitCode.OK) {
                // Flink removes what it made, but not what the job was restored from.
                directory.removeCheckpoints();
            }
            return code;
        } catch (CommandFailure e) {
            if (companion.hasNothingBegun()) {
                directory.remove();
            }
            throw e;
        }
    }
}
