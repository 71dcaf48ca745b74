package io.afterbay.cli.run;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.SystemExit;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.io.IOException;

/** The second process of a run: does what the plan in its directory says. */
public final class RunWorker {
    private RunWorker() {}

    public static void main(String[] args) throws Exception {
        end(run(JsonHandover.in(WorkDirectory.ofWorker().orElseThrow())));
    }

    /** Ends the process of a worker that has reported. */
    public static void end(int code) throws IOException, InterruptedException {
        System.out.flush();
        System.err.flush();
        if (SystemExit.isCalled() && code == ExitCode.OK) {
            SystemExit.allow();
        }
        // Nothing is left to do that a hook of the engine could wait for.
        Runtime.getRuntime().halt(code);
    }

    private static int run(Handover handover) {
        try {
            RunPlan plan = handover.plan(RunPlan.class);
            try {
                return run(plan, handover.settings(EngineSettings.class));
            } catch (CommandFailure e) {
                System.err.println(plan.command() + ": " + e.getMessage());
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
        return ExitCode.FAILURE;
    }

    private static int run(RunPlan plan, EngineSettings engine) throws Exception {
        return plan.on() == null
                ? new EmbeddedWorker(plan, engine, RunCompanion.NONE).run()
                : new RemoteWorker(plan, plan.on(), engine).run();
    }
}
