package io.afterbay.cli.replay;

import io.afterbay.command.CommandFailure;
import io.afterbay.replay.ReplayOrders;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * What the job of a replay is told: its rate, which job does it, and whether it was cancelled. All
 * of it is noted in the replay's directory, where commands find it, and told to the job from there.
 *
 * <p>Each change is one step, whichever process takes it, and tells all that is noted then: so
 * whoever comes last knows what the others have noted. A cancel is never taken back. Thread safe.
 */
final class NotedOrders {
    private static final String RATE = "rate.json";
    private static final String JOB = "job.json";
    private static final String CANCEL = "cancel";
    private static final String LOCK = "rate.lock";

    private final NotedFiles files;
    private final BooleanSupplier isThere;
    private final Telling telling;

    /** Tells the job. */
    interface Telling {
        void tell(ReplayOrders orders) throws IOException, CommandFailure;
    }

    /**
     * @param isThere whether the replay was not removed
     */
    NotedOrders(NotedFiles files, BooleanSupplier isThere, Telling telling) {
        this.files = files;
        this.isThere = isThere;
        this.telling = telling;
    }

    /** Of a replay that nobody else knows yet. */
    void begin(WantedRate rate) throws CommandFailure {
        files.write(RATE, rate);
    }

    WantedRate rate() throws CommandFailure {
        return files.find(RATE, WantedRate.class).orElse(WantedRate.NO_BOUND);
    }

    WantedRate change(UnaryOperator<WantedRate> change) throws CommandFailure {
        return alone(
                () -> {
                    WantedRate changed = change.apply(rate());
                    files.write(RATE, changed);
                    tell();
                    return changed;
                });
    }

    /** The job that it has on a cluster, or had; empty if none was sent there yet. */
    Optional<ReplayJob> job() throws CommandFailure {
        return files.find(JOB, ReplayJob.class);
    }

    void job(ReplayJob job) throws CommandFailure {
        var unused =
                alone(
                        () -> {
                            files.write(JOB, job);
                            tell();
                            return job;
                        });
    }

    /**
     * No job that was sent is wanted from now on, also if it comes later: the next one has another
     * identifier, which is noted and told here.
     *
     * @return the one that was noted; empty if none was, and nothing is done then
     */
    Optional<ReplayJob> supersedeJob() throws CommandFailure {
        return alone(
                () -> {
                    Optional<ReplayJob> known = job();
                    if (known.isPresent()) {
                        files.write(JOB, known.get().successor());
                        tell();
                    }
                    return known;
                });
    }

    boolean isCancelled() {
        return files.has(CANCEL);
    }

    /** Does nothing if the replay was removed. */
    void cancel() throws CommandFailure {
        try {
            // Before it is its turn: a process that lives ends the replay when it sees this.
            Files.write(files.path(CANCEL), new byte[0]);
            var unused =
                    alone(
                            () -> {
                                tell();
                                return true;
                            });
        } catch (IOException e) {
            if (isThere.getAsBoolean()) {
                throw files.failure(CANCEL, e);
            }
        } catch (CommandFailure e) {
            if (isThere.getAsBoolean()) {
                throw e;
            }
        }
    }

    private void tell() throws CommandFailure {
        WantedRate rate = rate();
        String job = job().map(ReplayJob::id).orElse(null);
        ReplayOrders all =
                isCancelled()
                        ? ReplayOrders.cancelled()
                        : new ReplayOrders(rate.paused() ? 0 : rate.rate(), job, false);
        try {
            telling.tell(all);
        } catch (IOException e) {
            throw files.failure("control", e);
        }
    }

    /**
     * Takes a step that no other one is taken beside.
     *
     * @throws CommandFailure also if the replay was removed
     */
    synchronized <T> T alone(NotedFiles.Reading<T> step) throws CommandFailure {
        try (FileChannel file =
                        FileChannel.open(
                                files.path(LOCK),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE);
                FileLock held = file.lock()) {
            if (!held.isValid() || !isThere.getAsBoolean()) {
                throw new IOException("the replay was removed meanwhile");
            }
            return step.read();
        } catch (IOException e) {
            throw files.failure(LOCK, e);
        }
    }
}
