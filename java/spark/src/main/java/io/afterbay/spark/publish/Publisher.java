package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes local files to a {@link Storage} behind its callers, in the order of {@link PublishQueue}.
 *
 * <pre>
 *   submit --room?--> queue --front? backoff?--> threads --paced--> storage
 *      ^                |                           |
 *   find, waiting     local copies    <--again--  failed, dead, hung, silent (two at once)
 * </pre>
 *
 * <p>Where the storage can, a log file is written before its turn, to where nobody sees it ({@link
 * Staged}): what those behind it wait for is only its renaming.
 *
 * <p>Local copies are kept until their file is published, and serve reads meanwhile. A write that
 * fails is repeated after a pause; one that reads nothing for long is given up, and its thread
 * replaced. One that is silent for unusually long is begun a second time by another thread ({@link
 * Hedging}): the first of the two that ends counts, and the other is given up. Threads look after
 * each other, and so does every caller that waits or calls {@link #wake}: there is no one thread
 * that all depends on. Whoever has a publisher that nobody waits for calls it now and then, since
 * all threads may hang. Nobody waits longer than {@link PublishSettings#waitNanosMax}.
 *
 * <p>When a file cannot be published, nothing behind it is: the publisher has failed, and each call
 * throws the reason. It never recovers. What is published is complete and in order (MiSA, Cluster
 * Computing '25, resumes after a dead commit thread in the same way, from local copies).
 *
 * <p>This is the callers' side; that of the threads is the {@link Conductor}.
 *
 * <p>Safe for use by any thread. The lock is not held while a file is written.
 */
public final class Publisher implements AutoCloseable {
    private final String name;
    private final Storage storage;
    private final PublishSettings settings;
    private final Room room;
    private final LongSupplier clock;
    private final Conductor conductor;
    private final ReentrantLock lock;
    private final Lookups lookups;

    /**
     * @param name of what is published, for messages and threads; a checkpoint's location
     */
    public Publisher(String name, Storage storage, PublishSettings settings) {
        this(name, storage, settings, settings.limits(), PublishObserver.NONE);
    }

    /**
     * With somebody who hears of its files.
     *
     * @param limits of all publishers that have them
     */
    public Publisher(
            String name,
            Storage storage,
            PublishSettings settings,
            ProcessLimits limits,
            PublishObserver observer) {
        this(
                name,
                storage,
                settings,
                limits,
                observer,
                new Time(System::nanoTime, LockSupport::parkNanos),
                Math::random);
    }

    /**
     * What time it is, and how a thread pauses that has written as much as it may.
     *
     * @param nanos from any beginning
     */
    record Time(LongSupplier nanos, LongConsumer pause) {}

    /**
     * With a time of its own. Threads that wait for each other do it in real time: whoever sets the
     * clock forward calls {@link #wake}.
     *
     * @param random from 0 to below 1
     */
    Publisher(
            String name,
            Storage storage,
            PublishSettings settings,
            ProcessLimits limits,
            PublishObserver observer,
            Time time,
            DoubleSupplier random) {
        this.name = name;
        this.storage = storage;
        this.settings = settings;
        this.room = limits.room();
        this.clock = time.nanos();
        this.conductor = new Conductor(name, storage, settings, limits, observer, time, random);
        this.lock = conductor.lock;
        this.lookups = new Lookups(name, this::isInStorage, settings.hangNanosMax(), clock);
    }

    /**
     * Takes over a local file, which is deleted when it is published. Waits for room.
     *
     * @return a ticket for {@link #awaitPublished}; tickets rise
     * @throws PublishException if the publisher has failed, is closed, or had no room for too long
     */
    public long submit(Kind kind, String target, Path local, boolean overwrites)
            throws IOException {
        return submit(kind, target, local, overwrites, Gate.OPEN);
    }

    /**
     * The same, for a log file that waits for something else, too.
     *
     * @param gate asked when all before the file is published; whoever may open it calls {@link
     *     #wake} then
     */
    public long submit(Kind kind, String target, Path local, boolean overwrites, Gate gate)
            throws IOException {
        long bytes = Files.size(local);
        takeRoom(bytes, target);
        lock.lock();
        try {
            return conductor.add(kind, target, local, bytes, overwrites, gate);
        } finally {
            lock.unlock();
        }
    }

    /** Without the lock, since others may have the room. */
    private void takeRoom(long bytes, String target) throws IOException {
        Room.Request request = room.ask(bytes);
        try {
            Deadline deadline = deadline(settings.waitNanosMax());
            boolean isGranted = request.awaitRoom(0);
            while (!isGranted) {
                isGranted = request.awaitRoom(look(deadline, target, "there was no room for it"));
            }
        } catch (InterruptedException e) {
            throw interrupted(target);
        } finally {
            request.withdraw();
        }
    }

    /** Waits until that ticket and all before it are published. */
    public void awaitPublished(long ticket) throws IOException {
        awaitUntil(() -> conductor.queue.isPublished(ticket));
    }

    /**
     * Waits until a log file is in the storage, whether it was submitted here or by a run before.
     *
     * @throws PublishException if it is not, and nobody has submitted it here
     */
    public void awaitPublished(String target) throws IOException {
        awaitUntil(() -> conductor.queue.find(target) == null);
        if (!isPublished(target)) {
            throw new PublishException(
                    "checkpoint " + name + ": no run of the query has written " + target, null);
        }
    }

    /** Whether a log file is in the storage, which is asked for what a run before has written. */
    public boolean isPublished(String target) throws IOException {
        return isKnown(target) ? !isWaiting(target) : isInStorage(target);
    }

    /**
     * The same at once, for callers that must not wait for the storage. What a run before has
     * written counts as not published until another thread has found it.
     */
    public boolean isKnownPublished(String target) throws IOException {
        return isKnown(target) ? !isWaiting(target) : lookups.isFound(target);
    }

    private boolean isKnown(String target) throws IOException {
        lock.lock();
        try {
            conductor.check();
            return isWaiting(target) || conductor.queue.wasPublished(target);
        } finally {
            lock.unlock();
        }
    }

    private boolean isWaiting(String target) {
        lock.lock();
        try {
            return conductor.queue.find(target) != null;
        } finally {
            lock.unlock();
        }
    }

    private boolean isInStorage(String target) throws IOException {
        boolean isThere = storage.exists(target);
        if (isThere) {
            lock.lock();
            try {
                conductor.queue.remember(target);
            } finally {
                lock.unlock();
            }
        }
        return isThere;
    }

    private void awaitUntil(BooleanSupplier condition) throws IOException {
        awaitUntil(condition, settings.waitNanosMax());
    }

    private void awaitUntil(BooleanSupplier condition, long waitNanosMax) throws IOException {
        lock.lock();
        try {
            Deadline deadline = deadline(waitNanosMax);
            while (!condition.getAsBoolean()) {
                PendingFile front = conductor.queue.front();
                await(
                        deadline,
                        front == null ? name : front.target,
                        front == null || front.isReleased
                                ? "it was not published"
                                : "it was not published (it waits for "
                                        + front.gate.waitsFor()
                                        + ")");
            }
            conductor.check();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all that was submitted so far is published. */
    public void awaitPublished() throws IOException {
        awaitPublished(lastTicket());
    }

    private long lastTicket() {
        lock.lock();
        try {
            return conductor.queue.lastTicket();
        } finally {
            lock.unlock();
        }
    }

    /** The local copy of a file that is not published yet, or null. */
    public @Nullable Path find(String target) throws IOException {
        lock.lock();
        try {
            conductor.check();
            PendingFile file = conductor.queue.find(target);
            return file == null ? null : file.local;
        } finally {
            lock.unlock();
        }
    }

    /** A file that is not published yet. */
    public record Waiting(String target, Path local) {}

    /** All files that are not published yet, in the order in which they were submitted. */
    public List<Waiting> waiting() throws IOException {
        lock.lock();
        try {
            conductor.check();
            return conductor.queue.files().stream()
                    .map(f -> new Waiting(f.target, f.local))
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /** Publishes nothing more, and says why: for a reason outside, as tests have. */
    void fail(String reason) {
        lock.lock();
        try {
            PendingFile front = conductor.queue.front();
            conductor.fail(front == null ? "more" : front.target, reason, null);
            conductor.wake();
        } finally {
            lock.unlock();
        }
    }

    /** Whether it has failed: it stays so. */
    public boolean hasFailed() {
        lock.lock();
        try {
            return conductor.hasFailed();
        } finally {
            lock.unlock();
        }
    }

    public PublishMetrics metrics() {
        lock.lock();
        try {
            return conductor.metrics();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Publishes what waits, and ends the threads; what cannot be published in time stays
     * unpublished, and its local copies are left to their owner.
     *
     * @throws PublishException if something was left
     */
    @Override
    public void close() throws IOException {
        close(settings.waitNanosMax());
    }

    /**
     * The same, and waits no longer than that.
     *
     * @param waitNanosMax 0 not to wait
     */
    public void close(long waitNanosMax) throws IOException {
        long ticket = lastTicket();
        try {
            awaitUntil(() -> conductor.queue.isPublished(ticket), waitNanosMax);
        } finally {
            abandon();
        }
    }

    /**
     * Publishes what waits, and ends the threads. Until {@link #resume}, state is refused: a task
     * that was killed may still be at work. Files of logs begin a new run, and are taken over.
     */
    public void rest() throws IOException {
        lock.lock();
        try {
            conductor.rest();
        } finally {
            lock.unlock();
        }
        awaitPublished();
    }

    /** Takes over state again. */
    public void resume() {
        lock.lock();
        try {
            conductor.resume();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the threads, and publishes nothing any more, as a crash would. */
    public void abandon() {
        lookups.abandon();
        lock.lock();
        try {
            conductor.abandon();
        } finally {
            lock.unlock();
        }
    }

    /** Looks at once after the threads, and whether something may be published now. */
    public void wake() {
        lock.lock();
        try {
            conductor.wake();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Until when somebody waits.
     *
     * @param waitNanosMax from the beginning
     */
    private record Deadline(long nanos, long waitNanosMax) {}

    private Deadline deadline(long waitNanosMax) {
        return new Deadline(clock.getAsLong() + waitNanosMax, waitNanosMax);
    }

    /** Until something has changed, or it is time to look again. */
    private void await(Deadline deadline, String target, String reason) throws IOException {
        long nanos = look(deadline, target, reason);
        try {
            conductor.changed.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw interrupted(target);
        }
    }

    /**
     * What everybody does who waits.
     *
     * @return until it is time to look again
     */
    private long look(Deadline deadline, String target, String reason) throws IOException {
        lock.lock();
        try {
            conductor.check();
            conductor.lookAfterWorkers();
            long nanos = deadline.nanos() - clock.getAsLong();
            if (nanos <= 0) {
                throw conductor.tooLong(target, reason, deadline.waitNanosMax());
            }
            return Math.min(nanos, Conductor.LOOK_NANOS);
        } finally {
            lock.unlock();
        }
    }

    private static InterruptedIOException interrupted(String target) {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while " + target + " was waited for");
    }
}
