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
            return follow(directory, atWork.get());
        }
        if (state.isAlive()) {
            System.out.println(ReplayReport.of(directory).line());
            return ExitCode.OK;
        }
        Optional<String> checkpoint = anew ? Optional.empty() : directory.newestCheckpoint();
        if (checkpoint.isEmpty() && !anew && directory.progress().isPresent()) {
            throw new CommandFailure(
                    "replay %s has read records and has no checkpoint: it may have ended, or written rows already. Look at its output; --anew does all of it again%s"
                            .formatted(
                                    id,
                                    directory.isLiveStopped()
                                            ? ", and 'replay cancel' starts the live job"
                                            : ""));
        }
        directory.forgetEnd();
        if (anew) {
            directory.forgetProgress();
            directory.forgetJob();
        }
        return ReplayProcess.run(directory, directory.plan().startingFrom(checkpoint.orElse(null)));
    }

    /** The live job is not to wait for a report that cannot be written. */
    private static int follow(ReplayDirectory directory, ReplayJob job) throws Exception {
        int code;
        try {
            code = ReplayFollower.follow(directory, job);
        } catch (CommandFailure e) {
            if (!directory.needsLiveBack()) {
                throw e;
            }
            System.err.println(CommandFailure.reason(e));
            code = ExitCode.FAILURE;
        }
        if (!directory.needsLiveBack()) {
            return code;
        }
        int back = ReplayProcess.run(directory, directory.plan());
        return code == ExitCode.OK ? back : code;
    }
}
