package io.afterbay.cli.replay;

import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay replay JOB}, and what is told to a replay that runs. */
@Command(
        name = "replay",
        description = {
            "Run a job on the past, beside the one that runs live.",
            "",
            "The job is the live one's, unchanged; its sources yield a range of record time, at a"
                    + " rate, and end. A replay has an output of its own. When its process has"
                    + " ended, 'resume' goes on from its newest checkpoint.",
            ""
        },
        subcommands = {
            ReplayTrafficJamCommand.class,
            ReplayNexmarkCommand.class,
            ReplayJarCommand.class,
            ReplaySqlCommand.class,
            StatusCommand.class,
            RateCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            CancelCommand.class
        },
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay replay traffic-jam --from @600 --to @1200 --rate 50000 --id morning",
            "  ./afterbay replay status",
            "  ./afterbay replay rate morning 100000",
            "  ./afterbay replay pause morning",
            "  ./afterbay replay resume morning"
        })
public final class ReplayCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a job, or what to do with a replay");
    }
}
