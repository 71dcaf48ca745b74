package io.afterbay.spark;

import io.afterbay.spark.publish.Bandwidth;
import io.afterbay.spark.publish.ProcessLimits;
import io.afterbay.spark.publish.PublishMetrics;
import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.spark.publish.Publisher;
import io.afterbay.spark.publish.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All checkpoints of this process, from the plug-in's start to its shutdown. Safe for use by any
 * thread.
 *
 * <p>A query that is stopped and started again in the process finds its checkpoint here, and all
 * that it has written in the storage. One whose publisher failed, or was given up because the
 * storage did not take what waited, finds a new publisher and only what is in the storage, as after
 * a crash; the file managers of the run before keep the old one.
 */
final class Checkpoints {
    private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);
    private static @Nullable Checkpoints process;

    private final PublishSettings settings;
    private final ProcessLimits limits;
    private final Path directory;
    private final Peers peers;
    private final Map<String, Checkpoint> byLocation = new ConcurrentHashMap<>();
    private final Watch watch = new Watch(this::wakeAll);
    private volatile boolean isClosed;

    Checkpoints(PublishSettings settings, Path directory, Peers peers) {
        this.settings = settings;
        this.limits = settings.limits();
        this.directory = directory;
        this.peers = peers;
    }

    /** Those of this process, or null without the plug-in. */
    static synchronized @Nullable Checkpoints process() {
        return process;
    }

    static synchronized void install(@Nullable Checkpoints checkpoints) {
        process = checkpoints;
    }

    /**
     * @param location with scheme and authority
     * @param storage for a new publisher
     */
    synchronized Checkpoint get(String location, Storage storage) {
        Checkpoint checkpoint = byLocation.get(location);
        if (checkpoint != null && checkpoint.publisher().hasFailed()) {
            giveUp(checkpoint);
            checkpoint = null;
        }
        if (checkpoint == null) {
            checkpoint = create(location, storage);
            byLocation.put(location, checkpoint);
            watch.start();
        }
        return checkpoint;
    }

    private Checkpoint create(String location, Storage storage) {
        try {
            Path locals = Files.createTempDirectory(directory, "checkpoint");
            Publisher publisher =
                    new Publisher(location, storage, settings, limits, peers.observer(location));
            String root = CheckpointFiles.path(new org.apache.hadoop.fs.Path(location));
            return new Checkpoint(location, root, publisher, locals, peers);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "no directory for local copies of "
                            + location
                            + " in "
                            + directory
                            + ": set spark.local.dir to one that is writable",
                    e);
        }
    }

    private void giveUp(Checkpoint checkpoint) {
        checkpoint.publisher().abandon();
        byLocation.remove(checkpoint.location(), checkpoint);
        deleteAll(checkpoint.locals());
    }

    /**
     * The query has ended: what waits is published, no longer than the settings say, here and by
     * other processes, and this one writes nothing to the checkpoint afterwards, until the next
     * query resumes. When the application ends, {@link #close} does that.
     *
     * @throws IOException if something is not published: it never will be
     */
    void end(Checkpoint checkpoint) throws IOException {
        long deadline = System.nanoTime() + settings.waitNanosMax();
        try {
            checkpoint.publisher().rest();
        } catch (IOException e) {
            if (isClosed) {
                return;
            }
            LOG.error(
                    "A query has ended, and files of {} are not published; they are given up, and"
                            + " its last batches run again when it is started again",
                    checkpoint.location());
            giveUp(checkpoint);
            throw e;
        }
        if (!isClosed && !peers.awaitIdle(checkpoint.location(), deadline - System.nanoTime())) {
            LOG.warn(
                    "A query has ended, and executors may still write state files to {} that no"
                            + " commit names; before it is removed or copied, end the application",
                    checkpoint.location());
        }
    }

    /** Those to which something is written or waits to be, in this process. */
    Set<String> busy() {
        return byLocation.values().stream()
                .filter(c -> !c.publisher().hasFailed())
                .filter(c -> c.publisher().metrics().waitingFiles() > 0)
                .map(Checkpoint::location)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Whether a file of the log is known to be in the storage. Does not wait for that: reports of
     * executors come on the same thread.
     *
     * @throws IllegalStateException if no query of this process writes that checkpoint
     */
    boolean isPublished(String location, String target) {
        Checkpoint checkpoint = byLocation.get(location);
        if (checkpoint == null) {
            throw new IllegalStateException("no query here writes " + location);
        }
        try {
            return checkpoint.publisher().isKnownPublished(target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Others have news of that checkpoint. */
    void wake(String location) {
        Checkpoint checkpoint = byLocation.get(location);
        if (checkpoint != null) {
            checkpoint.publisher().wake();
        }
    }

    private void wakeAll() {
        byLocation.values().forEach(c -> c.publisher().wake());
    }

    /**
     * Publishes what waits, in all together no longer than the settings say, and ends all threads.
     * Others may have news meanwhile, so it holds no lock.
     */
    void close() {
        isClosed = true;
        long deadline = System.nanoTime() + settings.waitNanosMax();
        for (Checkpoint checkpoint : byLocation.values()) {
            try {
                checkpoint.publisher().close(Math.max(0, deadline - System.nanoTime()));
            } catch (IOException e) {
                LOG.error("Shutdown with files that are not published; batches run again", e);
            }
        }
        watch.close();
        byLocation.clear();
        deleteAll(directory);
    }

    /** Ends all threads, and publishes nothing any more, as a crash would. */
    void abandon() {
        watch.close();
        byLocation.values().forEach(c -> c.publisher().abandon());
    }

    /** Of all checkpoints, since the plug-in's start. */
    Bandwidth bandwidth() {
        return limits.bandwidth();
    }

    List<PublishMetrics> metrics() {
        return byLocation.values().stream().map(c -> c.publisher().metrics()).toList();
    }

    private static void deleteAll(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> deepestFirst = new ArrayList<>(files.toList());
            deepestFirst.sort(Comparator.reverseOrder());
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) { // a thread that was given up is at work
            LOG.warn("Local copies in {} are left: delete the directory", directory, e);
        }
    }
}
