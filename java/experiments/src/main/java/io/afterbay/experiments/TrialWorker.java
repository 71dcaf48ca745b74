package io.afterbay.experiments;

import io.afterbay.bench.Trial;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.ExitCode;
import io.afterbay.handover.Handover;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A process for one run of an experiment: it does what its plan says, and hands over what it found
 * out. It knows nothing of the command line.
 */
public abstract class TrialWorker<P extends TrialPlan, R extends Trial> {
    protected final Path directory;
    protected final Handover handover;
    protected final EngineSettings engine;
    protected final P plan;

    protected TrialWorker(Start<P> start) {
        this.directory = start.directory;
        this.handover = start.handover;
        this.engine = start.engine;
        this.plan = start.plan;
    }

    /**
     * What a worker begins with.
     *
     * @param directory of its own
     * @param engine as it is to be, if it has one
     */
    public record Start<P>(Path directory, Handover handover, EngineSettings engine, P plan) {}

    /** Its constructor. */
    @FunctionalInterface
    public interface Maker<P extends TrialPlan> {
        TrialWorker<P, ?> make(Start<P> start) throws Exception;
    }

    /** The main method of a worker; does not return. */
    protected static <P extends TrialPlan> void main(Class<P> type, Maker<P> maker)
            throws Exception {
        Signals.handle(code -> Runtime.getRuntime().halt(code));
        Path directory = WorkDirectory.ofWorker().orElseThrow();
        WorkDirectory.dieWithParent(directory);
        Handover handover = JsonHandover.in(directory);
        Start<P> start =
                new Start<>(
                        directory,
                        handover,
                        handover.settings(EngineSettings.class),
                        handover.plan(type));
        int code = ExitCode.FAILURE;
        try {
            code = maker.make(start).run();
        } catch (Throwable e) {
            // Threads of the engine would keep a process whose work has died.
            e.printStackTrace();
        }
        System.out.flush();
        System.err.flush();
        // Nothing is left to do that a hook of the engine could wait for.
        Runtime.getRuntime().halt(code);
    }

    private int run() throws IOException, InterruptedException {
        try {
            handover.trial(trial());
            return ExitCode.OK;
        } catch (Exception e) {
            if (engine.verbose()) {
                e.printStackTrace();
            }
            handover.trial(failed(Failures.explain(e, directory.toString())));
            return ExitCode.FAILURE;
        } finally {
            end();
        }
    }

    protected abstract R trial() throws Exception;

    /** The run that came to nothing, with what is known of it. */
    protected abstract R failed(String reason) throws IOException;

    /** When the trial has been handed over. */
    protected void end() throws IOException, InterruptedException {}
}
