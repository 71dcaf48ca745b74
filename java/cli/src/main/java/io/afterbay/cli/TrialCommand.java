package io.afterbay.cli;

import io.afterbay.bench.Trial;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command of an experiment that makes its runs itself: the first process starts a worker for
 * each, which gets the same command line.
 */
abstract class TrialCommand<P extends TrialPlan, R extends Trial> implements Callable<Integer> {
    @Mixin final TrialArguments arguments = new TrialArguments();
    @Mixin final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public final Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        if (WorkDirectory.ofWorker().isPresent()) {
            return work(command);
        }
        arguments.check(command);
        check(command);
        OptionalInt other = instead();
        if (other.isPresent()) {
            return other.getAsInt();
        }
        return new TrialExperiment<>(kind(command), arguments, engine, memoryOfWorker(), command)
                .run();
    }

    /** The second process: does what it finds in its working directory; returns the exit code. */
    abstract int work(CommandLine command) throws IOException, InterruptedException;

    /** Wrong options are the command's usage errors. */
    abstract void check(CommandLine command);

    abstract TrialKind<P, R> kind(CommandLine command);

    /** The exit code of something else that the options asked for; nothing for the experiment. */
    OptionalInt instead() throws CommandFailure, InterruptedException {
        return OptionalInt.empty();
    }

    /** Null for that of the options. */
    @Nullable MemorySplit memoryOfWorker() {
        return null;
    }
}
