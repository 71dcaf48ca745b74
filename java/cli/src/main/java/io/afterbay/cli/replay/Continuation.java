package io.afterbay.cli.replay;

import io.afterbay.cli.process.LowWeight;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What {@code replay resume} and {@code replay cancel} do with a replay: what its directory and its
 * cluster show may change between two looks at them.
 */
final class Continuation {
    /** With a job that is cancelled, or a process that is to end. */
    private static final Waiting USUAL = new Waiting(100, Duration.ofMinutes(1));

    /** With a process that also starts the live job again, which waits for slots. */
    private static final Duration PATIENCE_WITH_LIVE = Duration.ofMinutes(7);

    private final ReplayDirectory directory;
    private final Processes processes;
    private final Waiting waiting;
    private final String id;

    /** What takes a process, and time. */
    interface Processes {
        /**
         * Returns when the replay has ended, and the live job is back if it was stopped.
         *
         * @param plan with the checkpoint to start from
         * @return the exit code
         */
        int run(ReplayPlan plan) throws CommandFailure, InterruptedException;

        /**
         * Returns when the job has ended.
         *
         * @return the exit code
         */
        int follow(ReplayJob job) throws CommandFailure, InterruptedException;
    }

    Continuation(ReplayDirectory directory) throws CommandFailure {
        this(
                directory,
                new Processes() {
                    @Override
                    public int run(ReplayPlan plan) throws CommandFailure, InterruptedException {
                        return ReplayProcess.run(directory, plan);
                    }

                    @Override
                    public int follow(ReplayJob job) throws CommandFailure, InterruptedException {
                        return ReplayFollower.follow(directory, job);
                    }
                },
                USUAL);
    }

    /**
     * @param waiting for the end of a job
     */
    Continuation(ReplayDirectory directory, Processes processes, Waiting waiting)
            throws CommandFailure {
        this.directory = directory;
        this.processes = processes;
        this.waiting = waiting;
        this.id = directory.plan().id();
    }

    /**
     * @param anew whether it is to begin again, without a checkpoint
     * @param nice of the process that this starts; null for that of the one before
     * @return the exit code
     */
    int resume(boolean anew, @Nullable Integer nice) throws CommandFailure, InterruptedException {
        if (nice != null && directory.plan().on() != null) {
            throw new CommandFailure(
                    "--nice has no meaning for replay %s: its cluster decides".formatted(id));
        }
        while (true) {
            ReplayState state = directory.state();
            if (isOnlyLiveLeft()) {
                return processes.run(directory.plan());
            }
            if (state.isOver()) {
                throw new CommandFailure("replay %s is %s".formatted(id, state));
            }
            boolean isHeld = directory.isHeld();
            ReplayJob atWork = isHeld ? null : directory.jobAtWork().orElse(null);
            if (isOnlyLiveLeft()) { // It has finished between the two looks at it.
                return processes.run(directory.plan());
            }
            if (!isHeld && directory.hasFinished()) {
                throw new CommandFailure("replay %s is %s".formatted(id, ReplayState.FINISHED));
            }
            if (isHeld || atWork != null || !state.isAlive()) {
                if (isHeld && nice != null) {
                    throw new CommandFailure(
                            "replay %s runs already; --nice is for a process that resume starts"
                                    .formatted(id));
                }
                return goOn(anew, nice, isHeld, atWork);
            }
        }
    }

    private int goOn(
            boolean anew, @Nullable Integer nice, boolean isHeld, @Nullable ReplayJob atWork)
            throws CommandFailure, InterruptedException {
        directory.pause(false);
        if (atWork != null) {
            directory.forgetEnd();
            return follow(atWork);
        }
        if (isHeld) {
            ReplayReport report = ReplayReport.of(directory);
            System.out.println(report.line() + report.way());
            return ExitCode.OK;
        }
        return begin(anew, nice);
    }

    private boolean isOnlyLiveLeft() throws CommandFailure {
        return directory.needsLiveBack() && !directory.isHeld();
    }

    /** Another command may have begun it since this one has looked; from here on, none does. */
    private int begin(boolean anew, @Nullable Integer nice)
            throws CommandFailure, InterruptedException {
        if (!directory.hold(ReplayLock.Holder.COMMAND)) {
            throw runsAlready();
        }
        try {
            if (directory.isHeldByAnother()) {
                throw runsAlready();
            }
            if (directory.needsLiveBack()) {
                return processes.run(directory.plan());
            }
            requireNotOver();
            ReplayPlan plan = prepare(anew);
            if (nice != null) {
                directory.priority(Priority.of(nice, LowWeight.NONE));
            }
            return processes.run(plan);
        } finally {
            directory.release();
        }
    }

    private CommandFailure runsAlready() {
        return new CommandFailure("replay %s runs already".formatted(id));
    }

    private void requireNotOver() throws CommandFailure {
        ReplayDirectory.Ended ended = directory.ended().orElse(null);
        if (ended != null && ended.state().isOver()) {
            throw new CommandFailure("replay %s is %s".formatted(id, ended.state()));
        }
    }

    private ReplayPlan prepare(boolean anew) throws CommandFailure, InterruptedException {
        boolean hasRead = directory.progress().isPresent();
        if (hasRead && !anew && directory.newestCheckpoint().isEmpty()) {
            throw new CommandFailure(
                    "replay %s has read records and has no checkpoint: it may have ended, or written rows already. Look at its output; --anew does all of it again%s"
                            .formatted(
                                    id,
                                    directory.isLiveStopped()
                                            ? ", and 'replay cancel' starts the live job"
                                            : ""));
        }
        if (hasRead) { // else it may be on its way, and keeps its identifier
            supersedeJob();
        }
        // No job writes one from here on.
        Optional<String> checkpoint = anew ? Optional.empty() : directory.newestCheckpoint();
        directory.forgetEnd();
        if (anew) {
            // Else it would go on from them if it ended before it has one of its own.
            directory.removeCheckpoints();
            directory.forgetProgress();
        }
        return directory.plan().startingFrom(checkpoint.orElse(null));
    }

    /** It may have come since the cluster was asked; it would end by itself, but not at once. */
    private void supersedeJob() throws CommandFailure, InterruptedException {
        ReplayJob superseded = directory.supersedeJob().orElse(null);
        if (superseded == null) {
            return;
        }
        try {
            end(superseded);
        } catch (CommandFailure e) {
            directory.job(superseded); // else nobody would ask for it any more
            throw e;
        }
    }

    private void end(ReplayJob superseded) throws CommandFailure, InterruptedException {
        if (!directory.end(superseded, waiting)) {
            throw new CommandFailure(
                    "job %s of replay %s has not ended within %d s; cancel it at http://%s, and try again"
                            .formatted(
                                    superseded.id(),
                                    id,
                                    waiting.patience().toSeconds(),
                                    superseded.cluster()));
        }
    }

    /** The live job is not to wait for a report that cannot be written. */
    private int follow(ReplayJob job) throws CommandFailure, InterruptedException {
        int code;
        try {
            code = processes.follow(job);
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
        int back = processes.run(directory.plan());
        return code == ExitCode.OK ? back : code;
    }

    /**
     * Returns when it is cancelled, and the live job is back if it was stopped.
     *
     * @return the exit code
     * @throws CommandFailure also if it has finished, with the live job back all the same
     */
    int cancel() throws CommandFailure, InterruptedException {
        ReplayState state = directory.state();
        if (directory.hasFinished() && isOnlyLiveLeft()) {
            return processes.run(directory.plan());
        }
        if (state == ReplayState.FINISHED) {
            throw new CommandFailure("replay %s is %s".formatted(id, state));
        }
        directory.wantCancel();
        awaitEnd();
        if (!directory.exists()) {
            System.out.println("replay " + id + " is cancelled, before anything had come of it");
            return ExitCode.OK;
        }
        boolean hasFinished = directory.hasFinished();
        if (!hasFinished) {
            directory.cancelled();
        }
        if (directory.needsLiveBack()) {
            int code = processes.run(directory.plan());
            if (code != ExitCode.OK) {
                return code;
            }
        }
        if (hasFinished) {
            throw new CommandFailure("replay %s has finished meanwhile".formatted(id));
        }
        System.out.println("replay " + id + " is cancelled");
        return ExitCode.OK;
    }

    /** A process that lives ends its job itself; who dies leaves it to this one. */
    private void awaitEnd() throws CommandFailure, InterruptedException {
        Waiting patient =
                directory.plan().isBlocking() ? waiting.patientFor(PATIENCE_WITH_LIVE) : waiting;
        long startNanos = System.nanoTime();
        ReplayJob told = null;
        while (directory.exists()) {
            boolean isHeld = isHeld();
            ReplayJob job = jobAtWork().orElse(null);
            if (!isHeld && job == null) {
                return;
            }
            if (patient.isOver(startNanos)) {
                throw new CommandFailure(
                        "replay %s has not ended within %d s; it does when its job stops"
                                .formatted(id, patient.patience().toSeconds()));
            }
            if (!isHeld && job != null && !job.equals(told) && job.cancel(directory)) {
                told = job;
            }
            Thread.sleep(patient.tickMs());
        }
    }

    /** A cluster that does not answer may have it. */
    private Optional<ReplayJob> jobAtWork() throws CommandFailure {
        try {
            return directory.jobAtWork();
        } catch (CommandFailure e) {
            throw new CommandFailure(
                    "%s; if it does, it stands still from now on, and it cannot begin again. To end it when the cluster answers: ./afterbay replay cancel %s%s"
                            .formatted(
                                    CommandFailure.reason(e),
                                    id,
                                    ReplayPlace.option(directory.root())),
                    e);
        }
    }

    /** A process of which nothing has come removes the directory when it ends. */
    private boolean isHeld() throws CommandFailure {
        try {
            return directory.isHeld();
        } catch (CommandFailure e) {
            if (directory.exists()) {
                throw e;
            }
            return false;
        }
    }
}
