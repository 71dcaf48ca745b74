package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.OutputFiles;
import io.afterbay.handover.Handover;
import picocli.CommandLine;

/**
 * How every command of {@code run} goes: checks in this process, the job in a {@link RunWorker}.
 */
final class RunProcess {
    private RunProcess() {}

    /** Checks of files. */
    interface Check {
        void run() throws CommandFailure;
    }

    /**
     * @param check of what the job reads and writes on this machine; not done for a cluster
     * @return the exit code
     */
    static int run(CommandLine command, RunArguments arguments, Check check, JobPlan job)
            throws CommandFailure, InterruptedException {
        EngineSettings engine = arguments.settings(command);
        arguments.checkCheckpoints(command);
        if (arguments.on == null) {
            check.run();
        } else {
            new OutputFiles().check("--json", arguments.json);
        }
        RunPlan plan = arguments.plan(command, job);
        return new WorkerLauncher(RunWorker.class, engine)
                .run(
                        arguments.options().workDirectory(),
                        (directory, worker) -> {
                            Handover handover = JsonHandover.in(directory);
                            handover.plan(plan);
                            handover.settings(engine);
                        });
    }
}
