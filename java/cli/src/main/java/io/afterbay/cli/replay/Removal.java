package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;

/**
 * What {@code replay remove} does with a replay: nothing is left of it, or it stays. What is looked
 * at here cannot change meanwhile: the replay is held, so that nobody begins it again, and a job of
 * it that is still on its way is told that it is not wanted before the cluster is asked for it.
 */
final class Removal {
    private final ReplayDirectory directory;
    private final boolean withSavepoints;
    private final String id;

    /**
     * @param withSavepoints whether those go, too, that a live job was stopped with
     * @throws CommandFailure if it cannot be read
     */
    Removal(ReplayDirectory directory, boolean withSavepoints) throws CommandFailure {
        this.directory = directory;
        this.withSavepoints = withSavepoints;
        try {
            this.id = directory.plan().id();
        } catch (CommandFailure e) {
            throw new CommandFailure(
                    "%s; nobody knows whether it runs, or what it has in a --checkpoint-dir: if you do, delete %s yourself"
                            .formatted(CommandFailure.reason(e), directory.path()),
                    e);
        }
    }

    /**
     * Returns when it is gone.
     *
     * @throws CommandFailure if it stays, with the reason and the way out
     */
    void remove() throws CommandFailure, InterruptedException {
        if (!directory.hold(ReplayLock.Holder.COMMAND)) {
            throw runs("a process of it lives");
        }
        try {
            if (directory.isHeldByAnother()) {
                throw runs("a process of it lives");
            }
            requireLiveJob();
            requireNoSavepoint();
            requireNoJob(); // at last: it may cancel what would stay otherwise
            directory.remove();
        } finally {
            directory.release();
        }
    }

    private CommandFailure runs(String why) {
        return new CommandFailure(
                "replay %s runs: %s; end it first: %s".formatted(id, why, command("cancel")));
    }

    private String command(String verb) {
        return "./afterbay replay %s %s%s"
                .formatted(verb, id, ReplayPlace.option(directory.root()));
    }

    /** It is known here alone where that is to be started again. */
    private void requireLiveJob() throws CommandFailure {
        if (directory.isLiveStopped()) {
            throw new CommandFailure(
                    "replay %s has stopped its live job; start that first: %s"
                            .formatted(id, command("cancel")));
        }
    }

    private void requireNoJob() throws CommandFailure {
        ReplayDirectory.Ended ended = directory.ended().orElse(null);
        if (directory.job().isEmpty() || ended != null && ended.state().isOver()) {
            return;
        }
        requireNotAtWork();
        directory.wantCancel();
        requireNotAtWork();
    }

    private void requireNotAtWork() throws CommandFailure {
        ReplayJob job;
        try {
            job = directory.jobAtWork().orElse(null);
        } catch (CommandFailure e) {
            throw new CommandFailure(
                    "%s; if that cluster is gone for good, delete %s yourself%s"
                            .formatted(CommandFailure.reason(e), directory.path(), elsewhere()),
                    e);
        }
        if (job != null) {
            throw runs("job %s at %s is at work".formatted(job.id(), job.cluster()));
        }
    }

    private String elsewhere() throws CommandFailure {
        String storage = directory.plan().storage();
        return storage == null ? "" : ", and what is named %s in %s".formatted(id, storage);
    }

    private void requireNoSavepoint() throws CommandFailure {
        if (!withSavepoints && directory.plan().isBlocking() && directory.hasSavepoint()) {
            throw new CommandFailure(
                    "replay %s has the savepoint that its live job was started from, in %s: move it away, or remove it with the replay by --with-savepoints when the live job has made a checkpoint since"
                            .formatted(id, directory.savepointsUri()));
        }
    }
}
