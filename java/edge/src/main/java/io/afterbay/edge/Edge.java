package io.afterbay.edge;

import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay edge}: the command line. What runs at a site is a program of its own. */
@Command(
        name = "afterbay edge",
        description = {
            "Cut a Flink SQL job in two: its windows are computed where the data is made.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        subcommands = {EdgePlan.class, EdgeRun.class},
        footerHeading =
                "%nBeside these, of the program of the sites ('./afterbay edge VERB --help'):%n",
        footer = {
            "  app          check an app file",
            "  cut          cut a plan that Flink has compiled, and write its halves",
            "  exec         run the lower half of a plan on a file",
            "  agent        run the lower half at a site, and send what it gives to a gateway",
            "  gateway      take what agents send, for Flink",
            "  status       of an agent or a gateway",
            "  key          make the key of a site",
            "  certificate  make the certificate of a gateway",
            "",
            "The guide is docs/edge-sql.md."
        })
public final class Edge implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    private Edge() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** As users type it, without the name. */
    static CommandLine commandLine() {
        return CommandLines.of(new Edge());
    }

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a verb: plan or run");
    }
}
