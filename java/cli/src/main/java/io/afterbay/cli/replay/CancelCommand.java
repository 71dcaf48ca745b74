package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.time.Duration;
import java.util.Optional;
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
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int POLL_MS = 100;

    @Parameters(index = "0", paramLabel = "ID", description = "The name of the replay.")
    private String id = "";

    @Mixin private final ReplayPlace place = new ReplayPlace();

    @Override
    public Integer call() throws Exception {
        ReplayDirectory directory = ReplayDirectory.find(place.root(), id);
        ReplayState state = directory.state();
        if (directory.hasFinished() && directory.isLiveStopped() && !directory.isHeld()) {
            return ReplayProcess.run(directory, directory.plan());
        }
        if (state == ReplayState.FINISHED) {
            throw new CommandFailure("replay %s is %s".formatted(id, state));
        }
        Optional<ReplayJob> atWork = directory.isHeld() ? Optional.empty() : directory.jobAtWork();
        directory.wantCancel();
        if (atWork.isPresent()) {
            atWork.get().cancel(directory);
        }
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (directory.isHeld() || directory.jobAtWork().isPresent()) {
            if (System.nanoTime() > deadline) {
                throw new CommandFailure(
                        "replay %s has not ended within %d s; it does when its job stops"
                                .formatted(id, PATIENCE.toSeconds()));
            }
            Thread.sleep(POLL_MS);
        }
        if (directory.hasFinished()) {
            throw new CommandFailure("replay %s has finished meanwhile".formatted(id));
        }
        directory.cancelled();
        if (directory.needsLiveBack()) {
            int code = ReplayProcess.run(directory, directory.plan());
            if (code != ExitCode.OK) {
                return code;
            }
        }
        System.out.println("replay " + id + " is cancelled");
        return ExitCode.OK;
    }
}
