package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code afterbay replay pause}. */
@Command(
        name = "pause",
        description = {"Let no records come until the replay is resumed; its process goes on.", ""},
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true)
final class PauseCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ID", description = "The name of the replay.")
    private String id = "";

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        ReplayDirectory directory = place.replays().find(id);
        if (!directory.state().isAlive()) {
            throw new CommandFailure("replay %s is %s".formatted(id, directory.state()));
        }
        directory.pause(true);
        System.out.println(ReplayReport.of(directory).line());
        return ExitCode.OK;
    }
}
