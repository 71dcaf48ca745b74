package io.afterbay.cli.replay;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code afterbay replay cancel}. */
@Command(
        name = "cancel",
        description = {
            "End a replay for good, and remove its checkpoints. A live job that was stopped for it is"
                    + " started again.",
            ""
        },
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true)
final class CancelCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ID", description = "The name of the replay.")
    private String id = "";

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        return new Continuation(place.replays().find(id)).cancel();
    }
}
