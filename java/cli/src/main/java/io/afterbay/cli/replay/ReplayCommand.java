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
            "Run a job on the past, beside the one that runs live, or in its place.",
            "",
            "The job is the live one's, unchanged; its sources yield a range of the past, at a rate,"
                    + " and end. A replay has an output of its own, or with --mode beside that of the"
                    + " live job, whose rows win, or with --mode blocking that of a live job that is"
                    + " stopped meanwhile. It needs checkpoints: when its process has ended, 'resume'"
                    + " goes on from the newest one.",
            ""
        },
        subcommands = {
            ReplayTrafficJamCommand.class,
            ReplayNexmarkCommand.class,
            ReplayProfilesCommand.class,
            ReplayJarCommand.class,
            ReplaySqlCommand.class,
            StatusCommand.class,
            RateCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
            CancelCommand.class,
            RemoveCommand.class
        },
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay replay traffic-jam --from @600 --to @1200 --rate 50000 --id morning",
            "  ./afterbay replay status",
            "  ./afterbay replay rate morning 100000",
            "  ./afterbay replay pause morning",
            "  ./afterbay replay resume morning",
            "  ./afterbay replay remove --ended --older-than 7d",
            "",
            "Exit codes: 0 done, 1 the job or a file failed, or it was cancelled, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
public final class ReplayCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a job, or what to do with a replay");
    }
}
