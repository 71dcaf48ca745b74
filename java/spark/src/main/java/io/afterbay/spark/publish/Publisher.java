package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
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
 * <p>Local copies are kept until their file is published, and serve reads meanwhile. A write that
 * fails is repeated after a pause; one that reads nothing for long is given up, and its thread
 * replaced. One that is silent for unusually long is begun a second time by another thread ({@link
 * Hedging}): the first of the two that ends counts, and the other is given up. Threads look after
 * each other, and so does every caller that waits: there is no one thread that all depends on.
 * Nobody waits longer than {@link PublishSettings#waitNanosMax}.
 *
 * <p>When a file cannot be published, nothing behind it is: the publisher has failed, and each call
 * throws the reason. It never recovers. What is published is complete and in order (MiSA, Cluster
 * Computing '25, resumes after a dead commit thread in the same way, from local copies).
 *
 * <p>Safe for use by any thread. The lock is not held while a file is written.
 */
public final class Publisher implements AutoCloseable {
    /** How often threads that wait look after the others, at least. */
    private static final long LOOK_NANOS = 250_000_000;

    /** Threads end after that time without work, and start again with the next. */
    private static final long IDLE_NANOS_MAX = 10_000_000_000L;

    private final String name;
    private final Storage storage;
    private final PublishSettings settings;
    private final LongSupplier clock;
    private final DoubleSupplier random;
    private final PublishObserver observer;
    private final Attempt attempt;
    private final Hedging hedging;
    private final PublishQueue queue = new PublishQueue();
    private final Crew crew;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable PublishException failure;
    private boolean isClosed;
    private long published;
    private long publishedBytes;
    private long failures;
    private long restarts;
    private long hedges;
    private int mostEntries;

    /**
     * @param name of what is published, for messages and threads; a checkpoint's location
     */
    public Publisher(String name, Storage storage, PublishSettings settings) {
        this(name, storage, settings, PublishObserver.NONE);
    }

    /** With somebody who hears of its files. */
    public Publisher(
            String name, Storage storage, PublishSettings settings, PublishObserver observer) {
        this(name, storage, settings, observer, System::nanoTime, Math::random);
    }

    /**
     * With a clock of its own. Threads wait in real time: whoever sets the clock forward calls
     * {@link #wake}.
     *
     * @param random from 0 to below 1
     */
    Publisher(
            String name,
            Storage storage,
            PublishSettings settings,
            PublishObserver observer,
            LongSupplier nanoClock,
            DoubleSupplier random) {
        this.name = name;
        this.storage = storage;
        this.settings = settings;
        this.observer = observer;
        this.clock = nanoClock;
        this.random = random;
        this.crew = new Crew(this, name, settings);
        this.attempt = new Attempt(storage, new Bandwidth(settings.bytesPerSecondMax()), nanoClock);
        this.hedging = new Hedging(settings.hedgedPercentMax());
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
        lock.lock();
        try {
            long deadline = deadline();
            while (!queue.hasRoom(bytes, settings)) {
                await(deadline, target, "there was no room for it");
            }
            check();
            long ticket = queue.add(kind, target, local, bytes, overwrites, gate).ticket;
            mostEntries = Math.max(mostEntries, queue.entries());
            lookAfterWorkers();
            changed.signalAll();
            return ticket;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until that ticket and all before it are published. */
    public void awaitPublished(long ticket) throws IOException {
        awaitUntil(() -> queue.isPublished(ticket));
    }

    /**
     * Waits until a log file is in the storage, whether it was submitted here or by a run before.
     *
     * @throws PublishException if it is not, and nobody has submitted it here
     */
    public void awaitPublished(String target) throws IOException {
        awaitUntil(() -> queue.find(target) == null);
        if (!isPublished(target)) {
            throw new PublishException(
                    "checkpoint " + name + ": no run of the query has written " + target, null);
        }
    }

    /** Whether a log file is in the storage. */
    public boolean isPublished(String target) throws IOException {
        lock.lock();
        try {
            check();
            if (queue.find(target) != null || queue.wasPublished(target)) {
                return queue.find(target) == null;
            }
        } finally {
            lock.unlock();
        }
        return storage.exists(target); // of a run before
    }

    private void awaitUntil(BooleanSupplier condition) throws IOException {
        lock.lock();
        try {
            long deadline = deadline();
            while (!condition.getAsBoolean()) {
                PendingFile front = queue.front();
                await(
                        deadline,
                        front == null ? name : front.target,
                        front == null || front.isReleased
                                ? "it was not published"
                                : "it was not published (it waits for "
                                        + front.gate.waitsFor()
                                        + ")");
            }
            check();
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
            return queue.lastTicket();
        } finally {
            lock.unlock();
        }
    }

    /** The local copy of a file that is not published yet, or null. */
    public @Nullable Path find(String target) throws IOException {
        lock.lock();
        try {
            check();
            PendingFile file = queue.find(target);
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
            check();
            return queue.files().stream().map(f -> new Waiting(f.target, f.local)).toList();
        } finally {
            lock.unlock();
        }
    }

    /** Publishes nothing more, and says why: for a reason outside. */
    public void fail(String reason) {
        lock.lock();
        try {
            PendingFile front = queue.front();
            fail(front == null ? "more" : front.target, reason, null);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether it has failed: it stays so. */
    public boolean hasFailed() {
        lock.lock();
        try {
            return failure != null;
        } finally {
            lock.unlock();
        }
    }

    public PublishMetrics metrics() {
        lock.lock();
        try {
            return new PublishMetrics(
                    published,
                    publishedBytes,
                    failures,
                    restarts,
                    hedges,
                    queue.entries(),
                    queue.bytes(),
                    mostEntries);
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
        try {
            awaitPublished();
        } finally {
            abandon();
        }
    }

    /** Ends the threads, and publishes nothing any more, as a crash would. */
    public void abandon() {
        lock.lock();
        try {
            isClosed = true;
            crew.giveUpAll();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Looks at once whether something may be published now. */
    public void wake() {
        lock.lock();
        try {
            lookAfterWorkers();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** One file of a thread; {@code false} to end it. */
    boolean runNext(Worker worker) {
        PendingFile file = take(worker);
        if (file == null) {
            return false;
        }
        IOException problem = attempt.run(worker, file, () -> hadOtherAttempts(file));
        ended(worker, file, problem);
        return true;
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
                    worker.begin(file, now);
                    return file;
                }
                if (queue.entries() == 0 && now - idleSince > IDLE_NANOS_MAX) {
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

    private boolean hadOtherAttempts(PendingFile file) {
        lock.lock();
        try {
            return file.failures > 0 || file.isHedged;
        } finally {
            lock.unlock();
        }
    }

    private void ended(Worker worker, PendingFile file, @Nullable IOException problem) {
        lock.lock();
        try {
            if (worker.isStale || isClosed) {
                return;
            }
            worker.file = null;
            file.writers--;
            if (problem == null) {
                worker.beat(clock.getAsLong());
                hedging.written(worker.silenceNanos());
                crew.giveUp(file);
                published(file);
            } else if (problem instanceof FileAlreadyExistsException) {
                fail(
                        file.target,
                        "another one is there: a second query uses this checkpoint",
                        problem);
            } else {
                failed(file, problem);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void published(PendingFile file) {
        queue.remove(file);
        published++;
        publishedBytes += file.bytes;
        observer.published(file.target);
        try {
            Files.deleteIfExists(file.local);
        } catch (IOException e) {
            // It is published; whoever owns the directory removes it at the end.
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

    private void fail(String target, String reason, @Nullable Throwable problem) {
        if (failure == null) {
            failure = exception(target, reason, problem);
            observer.failed(String.valueOf(failure.getMessage()));
        }
    }

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
    private void lookAfterWorkers() {
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

    private long deadline() {
        return clock.getAsLong() + settings.waitNanosMax();
    }

    /** Until something has changed, or it is time to look again. */
    private void await(long deadline, String target, String reason) throws IOException {
        check();
        lookAfterWorkers();
        long nanos = deadline - clock.getAsLong();
        if (nanos <= 0) {
            throw exception(
                    target,
                    reason + " within " + settings.waitNanosMax() / 1_000_000 + " ms",
                    null);
        }
        try {
            changed.await(Math.min(nanos, LOOK_NANOS), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + target + " was waited for");
        }
    }

    private void check() throws PublishException {
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
