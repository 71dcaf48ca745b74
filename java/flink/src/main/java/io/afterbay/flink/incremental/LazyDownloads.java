package io.afterbay.flink.incremental;

import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.io.LocalFiles;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of a restored base that stream in behind a store which is open already.
 *
 * <p>Some threads download one file each, from front to back, in the order of {@link
 * DownloadOrder}: what a job asks for first is what it restores first, then comes what its next
 * timers will need. Who reads what is not here yet gets it by a read of its own, a chunk of it.
 * Reads that somebody waits for have threads of their own, so that a reader can be let go, whatever
 * the storage does, when the task is cancelled; and so that interrupts of the task do not reach
 * streams of the storage.
 *
 * <p>If only some key groups are needed, as when a job is rescaled, only the chunks that have pages
 * of them are downloaded ahead of need (ADR 0046).
 *
 * <p>As long as files arrive, the restored checkpoint must stay. So a checkpoint that does not
 * refer to such a file {@link #awaitAllBut waits} until it is here (ADR 0022).
 *
 * <p>Thread safe. Closing cancels, and waits for nobody.
 */
final class LazyDownloads implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(LazyDownloads.class);

    /** The task, and a snapshot that is written. */
    private static final int READING_THREADS = 2;

    /** Chunks of a file between two looks at who else waits. */
    private static final int TURN_CHUNKS = 4;

    /** Before each further attempt without any progress. */
    private static final long[] PAUSES_MILLIS = {100, 500, 2500};

    private static final long POLL_MILLIS = 50;

    /** What so many triggers need is downloaded first. */
    private static final int TRIGGERS_MAX = 4096;

    /** To find that out asks the storage for pages, too. */
    private static final long ORDERING_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

    private final String source;
    private final Map<String, StreamStateHandle> handles;
    private final int threads;
    private final RemoteStreams streams;
    private final Transfers background;
    private final Transfers reading;
    private final Transfers ordering;
    private final Turns turns = new Turns();
    private final Map<String, Arrival> arrivals = new ConcurrentHashMap<>();
    private final Set<CompletableFuture<Void>> asked = ConcurrentHashMap.newKeySet();

    /** Files that are not settled. */
    private final AtomicInteger left = new AtomicInteger();

    /** Of files whose download has not begun, and of chunks that come before any. */
    private final DownloadOrder order = new DownloadOrder();

    /** Chunks that are downloaded ahead of need, by the name of the file; null for all. */
    private @Nullable Map<String, BitSet> chunks;

    private volatile boolean closed;

    /**
     * A file on its way.
     *
     * @param settled ends when it is here and who wanted to know has been told
     */
    private record Arrival(ArrivingFile file, CompletableFuture<Void> settled) {
        boolean isNeeded() {
            return !file.isClosed() && !settled.isDone();
        }
    }

    /**
     * @param source names the checkpoint, for messages
     * @param handles its files, by name
     * @param threads files that are downloaded at a time
     */
    LazyDownloads(String source, Map<String, StreamStateHandle> handles, int threads) {
        this.source = source;
        this.handles = handles;
        this.threads = threads;
        this.streams = new RemoteStreams(handles);
        this.background = new Transfers(threads);
        this.reading = new Transfers(READING_THREADS, "afterbay-read-");
        this.ordering = new Transfers(1, "afterbay-read-order-");
    }

    /**
     * A segment that will arrive.
     *
     * @param whenHere is called when it has, by the thread that brought the last of it
     */
    ArrivingFile add(Base.Segment segment, LocalFiles files, Path path, Runnable whenHere)
            throws IOException {
        String name = segment.name();
        if (!handles.containsKey(name)) {
            throw new IOException(
                    "%s has no file %s; restore from another checkpoint".formatted(source, name));
        }
        ArrivingFile file =
                new ArrivingFile(
                        files,
                        path,
                        segment.bytes(),
                        (target, position) -> readNow(name, target, position));
        CompletableFuture<Void> settled = file.arrival().thenRun(whenHere);
        arrivals.put(name, new Arrival(file, settled));
        left.incrementAndGet();
        settled.whenComplete((here, failure) -> settled());
        order.add(name);
        return file;
    }

    private void settled() {
        if (left.decrementAndGet() == 0 && !closed) {
            LOG.info(
                    "{}: all files that are needed are here; {} bytes were downloaded",
                    source,
                    readBytes());
            BackgroundThreads.runUnawaited(streams::closeIdle);
        }
    }

    // ---------------------------------------------------------------- ahead of need

    /**
     * Only these are downloaded ahead of need; what else is read comes when it is read. Before
     * {@link #start}.
     *
     * @param needed chunks, by the name of the file
     */
    void restrictTo(Map<String, BitSet> needed) {
        chunks = needed;
        order.retain(needed.keySet());
    }

    /**
     * Has that downloaded first which the next triggers need. Finds it in the background, and
     * closes the snapshot.
     *
     * @param snapshot of the store, which has just been opened
     * @param names of its files, by their numbers
     */
    void orderByTriggers(StoreSnapshot snapshot, Map<Integer, String> names) {
        ordering.begin(
                () -> {
                    try (snapshot) {
                        long deadline = System.nanoTime() + ORDERING_NANOS_MAX;
                        snapshot.upcoming(
                                TRIGGERS_MAX,
                                (file, position) ->
                                        prefer(names.get(file), position)
                                                && System.nanoTime() - deadline < 0);
                        LOG.info("{}: {} comes first, for its triggers", source, order);
                    }
                    return null;
                });
    }

    /** Whether there may be more. */
    private boolean prefer(@Nullable String name, long position) {
        Arrival arrival = name == null ? null : arrivals.get(name);
        if (name != null && arrival != null && arrival.isNeeded()) {
            long chunk = position - position % ArrivingFile.CHUNK_BYTES;
            order.prefer(name, chunk);
        }
        return !closed;
    }

    /** Begins to download what was added. */
    void start() {
        for (int i = 0; i < threads; i++) {
            background.begin(this::downloadAll);
        }
    }

    private @Nullable Void downloadAll() {
        downloadPreferred();
        for (String name = next(); name != null; name = next()) {
            Arrival arrival = arrivals.get(name);
            if (arrival != null && arrival.isNeeded()) {
                download(name, arrival.file);
            }
        }
        return null;
    }

    private @Nullable String next() {
        return closed ? null : order.next();
    }

    /** Chunks that will be needed before any other; if one fails, its file will say so. */
    private void downloadPreferred() {
        DownloadOrder.Chunk next = closed ? null : order.nextChunk();
        for (; next != null; next = closed ? null : order.nextChunk()) {
            Arrival arrival = arrivals.get(next.file());
            if (arrival != null && arrival.isNeeded()) {
                try {
                    downloadChunk(next, arrival.file);
                } catch (IOException | RuntimeException e) {
                    LOG.debug("Cannot download a part of {} ahead of need", next.file(), e);
                }
            }
        }
    }

    private void downloadChunk(DownloadOrder.Chunk chunk, ArrivingFile file) throws IOException {
        if (file.nextMissing(chunk.position()) != chunk.position()) {
            return; // somebody has asked for it
        }
        long began = System.nanoTime();
        RemoteStreams.Stream stream = streams.take(chunk.file());
        boolean read = false;
        try {
            ByteBuffer content = ByteBuffer.allocate(file.chunkBytes(chunk.position()));
            streams.read(stream, content, chunk.position());
            read = true;
            file.put(content.flip(), chunk.position());
        } finally {
            if (read) {
                streams.giveBack(stream);
            } else {
                streams.drop(stream);
            }
        }
        turns.giveWay(System.nanoTime() - began);
    }

    private void download(String name, ArrivingFile file) {
        long missing = file.missingBytes();
        for (int failures = 0; ; ) {
            try {
                downloadMissing(name, file);
                return;
            } catch (IOException | RuntimeException e) {
                failures = file.missingBytes() < missing ? 1 : failures + 1;
                missing = file.missingBytes();
                if (closed || file.isClosed() || file.arrival().isDone()) {
                    return;
                }
                if (!isWorthAnotherAttempt(name, failures, e)) {
                    fail(name, file, e);
                    return;
                }
            }
        }
    }

    private void downloadMissing(String name, ArrivingFile file) throws IOException {
        RemoteStreams.Stream stream = streams.take(name);
        try {
            ByteBuffer chunk = ByteBuffer.allocate(ArrivingFile.CHUNK_BYTES);
            BitSet wanted = chunks == null ? null : chunks.get(name);
            long at = file.nextMissing(0, wanted);
            long began = System.nanoTime();
            for (int chunks = 1; at >= 0 && !closed && !file.isClosed(); chunks++) {
                if (chunks % TURN_CHUNKS == 0) {
                    turns.giveWay(System.nanoTime() - began);
                    downloadPreferred();
                    began = System.nanoTime();
                }
                chunk.clear().limit(file.chunkBytes(at));
                streams.read(stream, chunk, at);
                file.put(chunk.flip(), at);
                at = file.nextMissing(at, wanted);
            }
        } finally {
            streams.drop(stream);
        }
    }

    // ---------------------------------------------------------------- on demand

    /** Reads for somebody who waits, also with an interrupt pending, until this is closed. */
    private void readNow(String name, ByteBuffer target, long position) throws IOException {
        order.moveToFront(name);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        asked.add(answer);
        turns.begin();
        try {
            if (closed) { // after it was added: closing ends all that it finds
                throw cancelled();
            }
            reading.begin(() -> answer(answer, name, target, position));
            await(answer);
        } catch (RejectedExecutionException e) {
            throw cancelled();
        } finally {
            turns.end();
            asked.remove(answer);
        }
    }

    private @Nullable Void answer(
            CompletableFuture<Void> answer, String name, ByteBuffer target, long position) {
        try {
            for (int failures = 1; !tryToRead(name, target, position, failures); failures++) {
                target.clear();
            }
            answer.complete(null);
        } catch (IOException | RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
        return null;
    }

    private boolean tryToRead(String name, ByteBuffer target, long position, int failures)
            throws IOException {
        try {
            RemoteStreams.Stream stream = streams.take(name);
            boolean read = false;
            try {
                streams.read(stream, target, position);
                read = true;
                return true;
            } finally {
                if (read) {
                    streams.giveBack(stream);
                } else {
                    streams.drop(stream);
                }
            }
        } catch (IOException | RuntimeException e) {
            if (closed || !isWorthAnotherAttempt(name, failures, e)) {
                throw failure(name, e);
            }
            return false;
        }
    }

    private static void await(CompletableFuture<Void> answer) throws IOException {
        boolean interrupted = false;
        try {
            for (; ; ) {
                try {
                    answer.get();
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(cause.getMessage(), cause);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---------------------------------------------------------------- failures

    /** Waits before it, unless there is no hope. */
    private boolean isWorthAnotherAttempt(String name, int failures, Exception failure) {
        boolean isGone =
                failure instanceof FileNotFoundException || failure instanceof NoSuchFileException;
        if (isGone || failures > PAUSES_MILLIS.length) {
            return false;
        }
        long pause = PAUSES_MILLIS[failures - 1];
        LOG.warn("Cannot download {} of {}; next attempt in {} ms", name, source, pause, failure);
        try {
            TimeUnit.MILLISECONDS.sleep(pause);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Fails the store too, which would otherwise work until somebody reads from there. */
    private void fail(String name, ArrivingFile file, Exception cause) {
        if (!closed) { // which interrupts pauses
            LOG.error("Giving up the download of {} of {}", name, source, cause);
            file.fail(failure(name, cause));
        }
    }

    private IOException failure(String name, Exception cause) {
        return closed
                ? cancelled()
                : new IOException(
                        "cannot download %s of %s from %s: %s"
                                .formatted(name, source, handles.get(name), cause.getMessage()),
                        cause);
    }

    private IOException cancelled() {
        return new InterruptedIOException(source + ": the download is cancelled with its task");
    }

    // ---------------------------------------------------------------- ownership

    /**
     * Waits until all files are here that the store still needs, but for those of these names, and
     * has them downloaded next.
     *
     * @throws IOException if one cannot be downloaded, or there is no use in waiting any more
     */
    void awaitAllBut(Set<String> names, BooleanSupplier isCancelled) throws IOException {
        List<Arrival> missing = new ArrayList<>();
        arrivals.forEach(
                (name, arrival) -> {
                    if (!names.contains(name) && arrival.isNeeded()) {
                        missing.add(arrival);
                        order.moveToFront(name);
                    }
                });
        for (Arrival arrival : missing) {
            await(arrival, isCancelled);
        }
    }

    private void await(Arrival arrival, BooleanSupplier isCancelled) throws IOException {
        while (!closed && !isCancelled.getAsBoolean()) {
            try {
                arrival.settled.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                // Still on its way.
            } catch (ExecutionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                if (cause instanceof CancellationException) {
                    return; // the store needs it no more
                }
                throw new IOException(cause.getMessage(), cause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while files were downloaded");
            }
        }
        throw cancelled();
    }

    /** Whether a file was restored and is not here, or will not be. */
    boolean isMissing(String name) {
        Arrival arrival = arrivals.get(name);
        return arrival != null
                && (!arrival.settled.isDone() || arrival.settled.isCompletedExceptionally());
    }

    // ---------------------------------------------------------------- life cycle

    /** What the store needs and is not here. */
    long missingBytes() {
        return arrivals.values().stream()
                .filter(Arrival::isNeeded)
                .mapToLong(arrival -> arrival.file.missingBytes())
                .sum();
    }

    /** Read from storage, some of it perhaps twice. */
    long readBytes() {
        return streams.readBytes();
    }

    @Override
    public void close() throws IOException {
        closed = true;
        asked.forEach(answer -> answer.completeExceptionally(cancelled()));
        background.cancel();
        reading.cancel();
        ordering.cancel();
        streams.close();
    }
}
