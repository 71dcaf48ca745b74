package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
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

    @Option(
            names = "--anew",
            description = "Begin again at the beginning of the range, without a checkpoint.")
    private boolean anew;

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        ReplayDirectory directory = ReplayDirectory.find(place.root(), id);
        ReplayState state = directory.state();
        if (directory.needsLiveBack() && state == ReplayState.INTERRUPTED) {
            return ReplayProcess.run(directory, directory.plan());
        }
        if (state == ReplayState.FINISHED || state == ReplayState.CANCELLED) {
            throw new CommandFailure("replay %s is %s".formatted(id, state));
        }
        Optional<ReplayJob> atWork = directory.isHeld() ? Optional.empty() : directory.jobAtWork();
        directory.pause(false);
        if (atWork.isPresent()) {
            directory.forgetEnd();
            int code = ReplayFollower.follow(directory, atWork.get());
            return directory.needsLiveBack()
                    ? ReplayProcess.run(directory, directory.plan())
                    : code;
        }
        if (state.isAlive()) {
            System.out.println(ReplayReport.of(directory).line());
            return ExitCode.OK;
        }
        Optional<String> checkpoint = anew ? Optional.empty() : directory.newestCheckpoint();
        if (checkpoint.isEmpty() && !anew && directory.progress().isPresent()) {
            throw new CommandFailure(
                    "replay %s has read records and has no checkpoint: it may have ended, or written rows already. Look at its output; --anew does all of it again"
                            .formatted(id));
        }
        directory.forgetEnd();
        if (anew) {
            directory.forgetProgress();
        }
        return ReplayProcess.run(directory, directory.plan().startingFrom(checkpoint.orElse(null)));
    }
}
