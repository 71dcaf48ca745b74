package io.afterbay.spark.publish;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads' side of a {@link Publisher}: which thread works on which file, and what comes of it.
 *
 * <pre>
 *   take --STAGE--> staged file   (nobody sees it)
 *        --REVEAL, WRITE--> published
 *   ended: published, staged, or again after a pause; at last the publisher fails
 * </pre>
 *
 * <p>All that several threads change is here, behind one {@link #lock}. Methods that are not
 * private are called with it, unless they say otherwise.
 */
final class Conductor {
    /** How often threads that wait look after the others, at least. */
    static final long LOOK_NANOS = 250_000_000;

    /** Threads end after that time without work, and start again with the next. */
    private static final long IDLE_NANOS_MAX = 10_000_000_000L;

    final ReentrantLock lock = new ReentrantLock();

    /** Whoever waits looks again. */
    final Condition changed = lock.newCondition();

    final PublishQueue queue;

    private final String name;
    private final PublishSettings settings;
    private final Room room;
    private final LongSupplier clock;
    private final DoubleSupplier random;
    private final PublishObserver observer;
    private final Attempt attempt;
    private final Hedging hedging;
    private final Crew crew;
    private @Nullable PublishException failure;
    private boolean isClosed;
    private boolean hasLeftRoom;

    /** No state is taken over, and threads without work end at once. */
    private boolean isResting;

    private long published;
    private long publishedBytes;
    private long failures;
    private long restarts;
    private long hedges;
    private int mostEntries;

    /**
     * @param random from 0 to below 1
     */
    Conductor(
            String name,
            Storage storage,
            PublishSettings settings,
            ProcessLimits limits,
            PublishObserver observer,
            Publisher.Time time,
            DoubleSupplier random) {
        this.name = name;
        this.settings = settings;
        this.room = limits.room();
        this.observer = observer;
        this.clock = time.nanos();
        this.random = random;
        this.queue = new PublishQueue(storage.canStage());
        this.crew = new Crew(this, name, settings);
        this.attempt = new Attempt(storage, limits.bandwidth().share(), time);
        this.hedging = new Hedging(settings.hedgedPercentMax());
    }

    /**
     * A file that has room.
     *
     * @return its ticket
     */
    long add(Kind kind, String target, Path local, long bytes, boolean overwrites, Gate gate)
            throws PublishException {
        boolean isLate = isResting && kind == Kind.STATE;
        if (hasEnded() || isLate) {
            room.give(1, bytes);
        }
        check();
        if (isLate) {
            throw new PublishException(
                    "checkpoint "
                            + name
                            + ": "
                            + target
                            + " comes after the end of its query, from a task that was killed. It is not"
                            + " written, and nothing is lost: no commit names it",
                    null);
        }
        long ticket = queue.add(kind, target, local, bytes, overwrites, gate).ticket;
        mostEntries = Math.max(mostEntries, queue.entries());
        wake();
        return ticket;
    }

    private boolean hasEnded() {
        return failure != null || isClosed;
    }

    boolean hasFailed() {
        return failure != null;
    }

    PublishMetrics metrics() {
        return new PublishMetrics(
                published,
                publishedBytes,
                failures,
                restarts,
                hedges,
                queue.entries(),
                queue.bytes(),
                mostEntries);
    }

    /** Looks after the threads, and lets all look who wait. */
    void wake() {
        lookAfterWorkers();
        changed.signalAll();
    }

    /** A thread has died: it is replaced at once. Takes the lock. */
    void died() {
        lock.lock();
        try {
            wake();
        } finally {
            lock.unlock();
        }
    }

    /** Until {@link #resume}. */
    void rest() {
        isResting = true;
        changed.signalAll();
    }

    void resume() {
        isResting = false;
    }

    void abandon() {
        isClosed = true;
        leaveRoom();
        crew.giveUpAll();
        changed.signalAll();
    }

    /** One file of a thread; {@code false} to end it. Takes the lock, and not while it writes. */
    boolean runNext(Worker worker) {
        PendingFile file = take(worker);
        if (file == null) {
            discardLeft();
            return false;
        }
        Attempt.Outcome outcome = attempt.run(worker, file, () -> hadOtherAttempts(worker, file));
        Staged unused = ended(worker, file, outcome);
        if (unused != null) {
            unused.discard();
        }
        return true;
    }

    /** When nothing more is published, what is staged is of no use; one thread removes it. */
    private void discardLeft() {
        List<Staged> left;
        lock.lock();
        try {
            left = hasEnded() ? queue.takeStaged() : List.of();
        } finally {
            lock.unlock();
        }
        left.forEach(Staged::discard);
    }

    /** Waits for a file; null to end the thread. */
    private @Nullable PendingFile take(Worker worker) {
        lock.lock();
        try {
            long idleSince = clock.getAsLong();
            while (!isClosed && failure == null && !worker.isStale) {
                lookAfterWorkers();
                long now = clock.getAsLong();
                PendingFile file = failure == null ? next(now) : null;
                if (file != null) {
                    file.writers++;
                    worker.begin(file, queue.step(file), now);
                    return file;
                }
                if (queue.entries() == 0 && (isResting || now - idleSince > IDLE_NANOS_MAX)) {
                    break;
                }
                pause(Math.min(nanosToNext(now), LOOK_NANOS));
            }
            crew.leave(worker);
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void pause(long nanos) {
        try {
            changed.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Left by a storage: threads end when they are stale, failed or closed.
        }
    }

    private @Nullable PendingFile next(long now) {
        PendingFile file = queue.next(now);
        if (file == null) {
            file = crew.silent(now, hedging.silenceNanosMax());
            if (file != null) {
                file.isHedged = true;
                hedging.spend();
                hedges++;
            }
        }
        return file;
    }

    private long nanosToNext(long now) {
        return Math.min(queue.nanosToNext(now), crew.nanosToSilent(now, hedging.silenceNanosMax()));
    }

    /** For a thread that was given up it is all the same. */
    private boolean hadOtherAttempts(Worker worker, PendingFile file) {
        lock.lock();
        try {
            return !worker.isStale && (file.failures > 0 || file.isHedged);
        } finally {
            lock.unlock();
        }
    }

    /**
     * @return what is staged and of no use
     */
    private @Nullable Staged ended(Worker worker, PendingFile file, Attempt.Outcome outcome) {
        lock.lock();
        try {
            if (worker.isStale || isClosed) {
                return outcome.staged();
            }
            worker.file = null;
            file.writers--;
            changed.signalAll();
            IOException problem = outcome.problem();
            if (problem == null) {
                return succeeded(worker, file, outcome.staged());
            }
            if (problem instanceof FileAlreadyExistsException) {
                fail(
                        file.target,
                        "another one is there: a second query uses this checkpoint",
                        problem);
            } else {
                failed(file, problem);
            }
            return outcome.staged();
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Staged succeeded(Worker worker, PendingFile file, @Nullable Staged staged) {
        worker.beat(clock.getAsLong());
        if (worker.step != Step.REVEAL) {
            hedging.written(worker.silenceNanos());
        }
        if (worker.step == Step.STAGE) {
            crew.giveUpStaging(file);
            file.staged = staged;
            return null;
        }
        crew.giveUp(file);
        published(file);
        return staged == null ? file.staged : staged;
    }

    private void published(PendingFile file) {
        queue.remove(file);
        if (!hasLeftRoom) {
            room.give(1, file.bytes);
        }
        published++;
        publishedBytes += file.bytes;
        observer.published(file.target);
        deleteLocal(file.local);
    }

    /** It is published, or will never be. */
    private static void deleteLocal(Path local) {
        try {
            Files.deleteIfExists(local);
        } catch (IOException e) {
            // Whoever owns the directory removes it at the end.
        }
    }

    private void failed(PendingFile file, Throwable problem) {
        file.failures++;
        if (file.failures >= settings.attemptsMax() && file.writers == 0) {
            fail(file.target, file.failures + " attempts failed", problem);
            return;
        }
        failures++;
        long pause = settings.backoff().nanos(file.failures, random.getAsDouble());
        file.notBeforeNanos = clock.getAsLong() + pause;
    }

    /** Nothing more is published; the first reason counts. */
    void fail(String target, String reason, @Nullable Throwable problem) {
        if (failure == null) {
            failure = exception(target, reason, problem);
            leaveRoom();
            queue.files().forEach(file -> deleteLocal(file.local));
            observer.failed(String.valueOf(failure.getMessage()));
        }
    }

    /** What waits is given up: others may have its room. */
    private void leaveRoom() {
        if (!hasLeftRoom) {
            hasLeftRoom = true;
            room.give(queue.entries(), queue.bytes());
        }
    }

    /** What a caller gets who has waited for too long: the others go on. */
    PublishException tooLong(String target, String reason, long waitNanosMax) {
        return new PublishException(
                "checkpoint "
                        + name
                        + ": "
                        + target
                        + ": "
                        + reason
                        + " within "
                        + waitNanosMax / 1_000_000
                        + " ms. "
                        + queue.entries()
                        + " files wait, and are published when the storage takes them. If it is"
                        + " only slow, a longer waitMax helps; else mend the cause, and restart the"
                        + " query",
                null);
    }

    /** What callers get when nothing more is published: where, what, why, and the way out. */
    private PublishException exception(String target, String reason, @Nullable Throwable problem) {
        return new PublishException(
                "checkpoint "
                        + name
                        + ": cannot publish "
                        + target
                        + ": "
                        + reason
                        + (problem == null ? "" : " (" + problem + ")")
                        + ". "
                        + queue.entries()
                        + " files are not published, and are given up. What is in the checkpoint"
                        + " is complete: mend the cause, and restart the query",
                problem);
    }

    /** Replaces threads that died or hang, and starts those that are missing. */
    void lookAfterWorkers() {
        for (Crew.Lost lost : crew.removeLost(clock.getAsLong())) {
            restarts++;
            if (lost.file() != null) {
                lost.file().writers--;
                failed(lost.file(), lost.reason());
            }
        }
        if (!isClosed && failure == null) {
            lookAtGate();
            int files = queue.entries();
            crew.growTo(files > 0 && hedging.isOn() ? files + 1 : files);
        }
    }

    /** Only the front's matters: the others are behind it. */
    private void lookAtGate() {
        PendingFile front = queue.front();
        if (front != null && !front.isReleased) {
            try {
                front.isReleased = front.gate.isOpen();
            } catch (IOException e) {
                fail(front.target, String.valueOf(e.getMessage()), null);
            }
        }
    }

    /** Throws why nothing more is published, if it is so. */
    void check() throws PublishException {
        if (failure != null) {
            throw new PublishException(String.valueOf(failure.getMessage()), failure);
        }
        if (isClosed) {
            throw new PublishException(
                    "checkpoint " + name + ": its publisher is closed; start the query again",
                    null);
        }
    }
}
