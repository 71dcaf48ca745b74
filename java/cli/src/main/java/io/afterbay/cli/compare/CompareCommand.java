package io.afterbay.cli.compare;

import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay compare TARGET}. */
@Command(
        name = "compare",
        description =
                "Run a job on several state backends in turn: a table, a page, JSON, and whether"
                        + " outputs are equal.",
        subcommands = {
            CompareNexmarkCommand.class,
            CompareTrafficJamCommand.class,
            CompareJarCommand.class,
            CompareSqlCommand.class
        },
        mixinStandardHelpOptions = true)
public final class CompareCommand implements Callable<Integer> {

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a target");
    }
}
