package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.job.Job;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.OutputFiles;
import java.util.function.Supplier;
import picocli.CommandLine;

/** How every command of {@code run} goes: checks in the first process, the job in the second. */
final class RunProcess {
    private RunProcess() {}

    /** Checks of files, in the first process. */
    interface Check {
        void run() throws CommandFailure;
    }

    /**
     * @param check of what the job reads and writes on this machine; not done for a cluster
     * @param job made in the second process only
     * @return the exit code
     */
    static int run(
            CommandLine command, RunArguments arguments, Check check, Supplier<? extends Job> job)
            throws Exception {
        EngineSettings engine = arguments.settings(command);
        if (WorkDirectory.ofWorker().isPresent()) {
            return work(command, arguments, engine, job.get());
        }
        arguments.checkCheckpoints(command);
        if (arguments.on == null) {
            check.run();
        } else {
            new OutputFiles().check("--json", arguments.json);
        }
        return new WorkerLauncher(command.getCommandSpec().root().userObject().getClass(), engine)
                .run(
                        arguments.options().workDirectory(),
                        command.getCommandSpec()
                                .root()
                                .commandLine()
                                .getParseResult()
                                .originalArgs());
    }

    private static int work(
            CommandLine command, RunArguments arguments, EngineSettings engine, Job job)
            throws Exception {
        return arguments.on == null
                ? new RunWorker(job, arguments, engine).run()
                : new RemoteWorker(
                                job,
                                arguments.on,
                                arguments,
                                engine,
                                arguments.chosenInterval(command).orElse(null))
                        .run();
    }
}
