package io.afterbay.cli.run;

import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay run JOB}. */
@Command(
        name = "run",
        description = {
            "Run a job on an embedded engine, with a progress line and a report.",
            "",
            "A topology on Storm: ./afterbay run exclamation --help.",
            ""
        },
        subcommands = {
            TrafficJamCommand.class,
            NexmarkCommand.class,
            ProfilesCommand.class,
            WordCountCommand.class,
            JarCommand.class,
            SqlCommand.class
        },
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run traffic-jam",
            "  ./afterbay run nexmark --query q7",
            "  ./afterbay run profiles",
            "  ./afterbay run word-count",
            "  ./afterbay run my-job.jar --backend rocksdb -- --my-option",
            "  ./afterbay run script.sql --output rows.csv"
        })
public final class RunCommand implements Callable<Integer> {

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a job");
    }
}
