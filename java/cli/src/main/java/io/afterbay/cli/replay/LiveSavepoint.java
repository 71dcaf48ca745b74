package io.afterbay.cli.replay;

import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterJob.Savepoint;
import io.afterbay.command.CommandFailure;
import org.jspecify.annotations.Nullable;

/**
 * The savepoint with which a live job is stopped: asked for, waited for, and looked for if its
 * cluster has forgotten it. It is in a directory of its own trigger, since an older one of the live
 * job is no place to go on from.
 */
final class LiveSavepoint {
    private static final String FINISHED = "FINISHED";

    private final ReplayDirectory directory;
    private final ClusterJob live;
    private final Waiting waiting;

    LiveSavepoint(ReplayDirectory directory, ClusterJob live, Waiting waiting) {
        this.directory = directory;
        this.live = live;
        this.waiting = waiting;
    }

    /**
     * Returns when the live job has ended with it.
     *
     * @param stop that was noted
     * @return where it is
     * @throws CommandFailure if it is not complete, or the live job has failed on its way to its
     *     end. What is known then is noted: nothing if the live job is not at the savepoint
     */
    String await(LiveStop stop) throws ClusterException, InterruptedException, CommandFailure {
        long startNanos = System.nanoTime();
        while (true) {
            Savepoint made = live.savepoint(stop.trigger()).orElse(null);
            if (made != null && made.isPending()) {
                requirePatienceWithSavepoint(startNanos);
            } else {
                String state = live.state().orElse(null);
                if (state == null || ClusterJob.isEnded(state)) {
                    return ended(stop, made, state);
                }
                boolean isRunning = state.equals("RUNNING");
                if (isRunning && made != null && made.problem() != null) {
                    throw runsOn(stop, made.problem());
                }
                if (isRunning && made == null) {
                    live.stop(place(stop), stop.trigger());
                } else if (waiting.isOver(startNanos)) {
                    throw new CommandFailure(
                            "the live job %s has been %s for %d s, and is not stopped"
                                    .formatted(live.id(), state, waiting.patience().toSeconds()));
                }
            }
            Thread.sleep(waiting.tickMs());
        }
    }

    /** A large state may take as long as the live job lets its checkpoints take. */
    private void requirePatienceWithSavepoint(long startNanos)
            throws ClusterException, InterruptedException, CommandFailure {
        if (waiting.isOver(startNanos)
                && waiting.isOver(startNanos + live.checkpointTimeout().toNanos())) {
            throw new CommandFailure(
                    "the savepoint with which the live job %s is to stop is not complete after %d s; nobody knows when it will be"
                            .formatted(
                                    live.id(), (System.nanoTime() - startNanos) / 1_000_000_000));
        }
    }

    private String place(LiveStop stop) throws CommandFailure {
        String all = directory.savepointsUri();
        return (all.endsWith("/") ? all : all + "/") + stop.trigger();
    }

    private CommandFailure runsOn(LiveStop stop, String problem)
            throws ClusterException, InterruptedException, CommandFailure {
        String found = find(stop);
        directory.forgetLiveStop();
        return new CommandFailure(
                "the live job could not be stopped with a savepoint, and runs on: %s%s"
                        .formatted(
                                problem,
                                found == null
                                        ? ""
                                        : "; its savepoint %s is complete, and stays"
                                                .formatted(found)));
    }

    private String ended(LiveStop stop, @Nullable Savepoint made, @Nullable String state)
            throws ClusterException, InterruptedException, CommandFailure {
        String told = made == null ? null : made.location();
        String found = told == null ? find(stop) : told;
        if (found != null && (state == null || state.equals(FINISHED))) {
            return found;
        }
        String problem = made == null || made.problem() == null ? "" : " (" + made.problem() + ")";
        String newer = live.checkpointSinceSavepoint().orElse(null);
        if (found == null || newer != null) {
            directory.forgetLiveStop();
            throw endedElsewhere(stop, state, newer, problem);
        }
        directory.liveStop(stop.stopped(found));
        throw new CommandFailure(
                "the live job %s is %s: it failed when its savepoint %s was complete, and before it had ended by itself%s"
                        .formatted(live.id(), state, found, problem));
    }

    /** What the cluster has forgotten may still be there. */
    private @Nullable String find(LiveStop stop)
            throws ClusterException, InterruptedException, CommandFailure {
        String known = live.newestSavepoint().orElse("");
        if (known.contains(stop.trigger())) {
            return known;
        }
        return RestorePoint.newest(place(stop)).map(point -> point.path().toString()).orElse(null);
    }

    private CommandFailure endedElsewhere(
            LiveStop stop, @Nullable String state, @Nullable String newer, String problem)
            throws CommandFailure {
        String is =
                state == null ? "is not known to its cluster any more" : "is " + state + problem;
        return new CommandFailure(
                newer == null
                        ? "the live job %s %s, and has left no savepoint in %s: it has ended by itself, before it was stopped; start it from its newest checkpoint"
                                .formatted(live.id(), is, place(stop))
                        : "the live job %s %s, and is further than its savepoint in %s: start it from its newest checkpoint, %s"
                                .formatted(live.id(), is, place(stop), newer));
    }
}
