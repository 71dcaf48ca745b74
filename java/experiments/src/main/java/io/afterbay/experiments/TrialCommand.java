package io.afterbay.experiments;

import io.afterbay.bench.Trial;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/**
 * The command of an experiment that makes its runs itself: this process starts a worker for each.
 */
public abstract class TrialCommand<P extends TrialPlan, R extends Trial>
        implements Callable<Integer> {
    @Mixin protected final TrialArguments arguments = new TrialArguments();
    @Mixin private final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    private final Options options;

    /** Of an experiment on Flink. */
    protected TrialCommand() {
        this(Options.ALL);
    }

    protected TrialCommand(Options options) {
        this.options = options;
    }

    /** Which of the options above an experiment has. */
    protected enum Options {
        ALL,
        /** Not those that shape a Flink with a state backend. */
        WITHOUT_FLINK(
                "--backends",
                "--parallelism",
                "--memory",
                "--state-memory",
                "--checkpoint-interval",
                "-D");

        private final List<String> needless;

        Options(String... needless) {
            this.needless = List.of(needless);
        }
    }

    /** Takes options away that an experiment among the subcommands has no use for. */
    public static CommandLine withoutNeedless(CommandLine bench) {
        for (CommandLine subcommand : bench.getSubcommands().values()) {
            if (subcommand.getCommand() instanceof TrialCommand<?, ?> one) {
                CommandSpec spec = subcommand.getCommandSpec();
                one.options.needless.forEach(name -> remove(spec, name));
            }
        }
        return bench;
    }

    private static void remove(CommandSpec spec, String name) {
        OptionSpec option = spec.findOption(name);
        if (option == null) {
            throw new IllegalStateException(
                    "bench %s has no option %s to take away".formatted(spec.name(), name));
        }
        spec.remove(option);
    }

    @Override
    public final Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        checkOptions(command);
        OptionalInt other = instead();
        if (other.isPresent()) {
            return other.getAsInt();
        }
        engine.checkProperties(command);
        return new TrialExperiment<>(kind(command), arguments, engine(), memoryOfWorker(), command)
                .run();
    }

    private void checkOptions(CommandLine command) {
        arguments.check(command);
        check(command);
    }

    /** The experiment that the options ask for; wrong ones are the command's usage errors. */
    public final TrialKind<P, R> checked(CommandLine command) {
        checkOptions(command);
        return kind(command);
    }

    /** What was asked for of the engine. */
    protected EngineOptions engine() {
        return engine.options();
    }

    /** Wrong options are the command's usage errors. */
    protected abstract void check(CommandLine command);

    protected abstract TrialKind<P, R> kind(CommandLine command);

    /** The exit code of something else that the options asked for; nothing for the experiment. */
    protected OptionalInt instead() throws CommandFailure, InterruptedException {
        return OptionalInt.empty();
    }

    /** Null for that of the options. */
    protected @Nullable MemorySplit memoryOfWorker() {
        return null;
    }
}
