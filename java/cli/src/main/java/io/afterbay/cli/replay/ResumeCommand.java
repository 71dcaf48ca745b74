package io.afterbay.cli.replay;

import java.util.concurrent.Callable;
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

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        return new Continuation(place.replays().find(id)).resume(anew);
    }
}
