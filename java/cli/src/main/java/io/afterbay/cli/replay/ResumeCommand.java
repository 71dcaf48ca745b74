package io.afterbay.cli.replay;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code afterbay replay resume}. */
@Command(
        name = "resume",
        description = {
            "Go on with a replay that was paused, or whose process has ended: follow its job, if that"
                    + " runs on a cluster, or start it from its newest checkpoint.",
            ""
        },
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true)
final class ResumeCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ID", description = "The name of the replay.")
    private String id = "";

    @Option(
            names = "--anew",
            description = "Begin again at the beginning of the range, without a checkpoint.")
    private boolean anew;

    @Option(
            names = "--nice",
            paramLabel = "N",
            converter = Nice.class,
            description =
                    "How much the process that this starts leaves to others, from 0 to 19 (default: as"
                            + " the one before).")
    private @Nullable Integer nice;

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        return new Continuation(place.replays().find(id)).resume(anew, nice);
    }
}
