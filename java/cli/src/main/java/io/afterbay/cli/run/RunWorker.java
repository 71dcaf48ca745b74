package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.SystemExit;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.util.concurrent.Callable;

/** The second process of a run: does what the plan in its directory says. */
public final class RunWorker {
    private RunWorker() {}

    public static void main(String[] args) throws Exception {
        Handover handover = JsonHandover.in(WorkDirectory.ofWorker().orElseThrow());
        RunPlan plan = handover.plan(RunPlan.class);
        EngineSettings engine = handover.settings(EngineSettings.class);
        conclude(plan.command(), () -> run(plan, engine));
    }

    private static int run(RunPlan plan, EngineSettings engine) throws Exception {
        return plan.on() == null
                ? new EmbeddedWorker(plan, engine, RunCompanion.NONE).run()
                : new RemoteWorker(plan, plan.on(), engine, RunCompanion.NONE).run();
    }

    /**
     * Does the work of a worker, and ends its process.
     *
     * @param command whose name stands before a failure
     * @param work gives the exit code
     */
    public static void conclude(String command, Callable<Integer> work) throws Exception {
        int code = ExitCode.FAILURE;
        try {
            code = work.call();
        } catch (CommandFailure e) {
            System.err.println(command + ": " + e.getMessage());
        } catch (Exception e) {
            e.printStackTrace();
        }
        System.out.flush();
        System.err.flush();
        if (SystemExit.isCalled() && code == ExitCode.OK) {
            SystemExit.allow();
        }
        // Nothing is left to do that a hook of the engine could wait for.
        Runtime.getRuntime().halt(code);
    }
}
