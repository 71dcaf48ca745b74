package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code afterbay replay resume}. */
@Command(
        name = "resume",
        description = {"Go on with a replay that was paused, or whose process has ended.", ""},
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true)
final class ResumeCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "ID", description = "The name of the replay.")
    private String id = "";

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        ReplayDirectory directory = ReplayDirectory.find(place.root(), id);
        ReplayState state = directory.state();
        if (state == ReplayState.FINISHED || state == ReplayState.CANCELLED) {
            throw new CommandFailure("replay %s is %s".formatted(id, state));
        }
        directory.rate(ReplayDirectory.WantedRate.of(directory.rate().rate(), false));
        if (state.isAlive()) {
            System.out.println(ReplayReport.of(directory).line());
            return ExitCode.OK;
        }
        directory.forgetEnd();
        ReplayPlan plan = directory.plan().startingFrom(directory.newestCheckpoint().orElse(null));
        return ReplayProcess.run(directory, plan, directory.engine(), null);
    }
}
