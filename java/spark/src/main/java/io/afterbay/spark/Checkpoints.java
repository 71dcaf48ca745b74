package io.afterbay.spark;

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
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All checkpoints of this process, from the plug-in's start to its shutdown. Safe for use by any
 * thread.
 *
 * <p>A query that is stopped and started again in the process finds its checkpoint here, with what
 * is not published yet. One that failed because its publisher did finds a new publisher and only
 * what is in the storage, as after a crash; the file managers of the failed run keep the old one.
 */
final class Checkpoints {
    private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);
    private static @Nullable Checkpoints process;

    private final PublishSettings settings;
    private final Path directory;
    private final Peers peers;
    private final Map<String, Checkpoint> byRoot = new ConcurrentHashMap<>();

    Checkpoints(PublishSettings settings, Path directory, Peers peers) {
        this.settings = settings;
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
     * @param root without scheme
     * @param storage for a new publisher
     */
    synchronized Checkpoint get(String root, Storage storage) {
        Checkpoint checkpoint = byRoot.get(root);
        if (checkpoint != null && checkpoint.publisher().hasFailed()) {
            checkpoint.publisher().abandon();
            deleteAll(checkpoint.locals());
            checkpoint = null;
        }
        if (checkpoint == null) {
            checkpoint = create(root, storage);
            byRoot.put(root, checkpoint);
        }
        return checkpoint;
    }

    private Checkpoint create(String root, Storage storage) {
        try {
            Path locals = Files.createTempDirectory(directory, "checkpoint");
            Publisher publisher = new Publisher(root, storage, settings, peers.observer(root));
            return new Checkpoint(root, publisher, locals, peers);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "no directory for local copies of "
                            + root
                            + " in "
                            + directory
                            + ": set spark.local.dir to one that is writable",
                    e);
        }
    }

    /**
     * Whether a file of the log is in the storage.
     *
     * @throws IllegalStateException if no query of this process writes that checkpoint
     */
    boolean isPublished(String root, String target) {
        Checkpoint checkpoint = byRoot.get(root);
        if (checkpoint == null) {
            throw new IllegalStateException("no query here writes " + root);
        }
        try {
            return checkpoint.publisher().isPublished(target);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Others have news of that checkpoint. */
    void wake(String root) {
        Checkpoint checkpoint = byRoot.get(root);
        if (checkpoint != null) {
            checkpoint.publisher().wake();
        }
    }

    /** Others cannot publish to that checkpoint any more, so nothing may follow. */
    void fail(String root, String reason) {
        Checkpoint checkpoint = byRoot.get(root);
        if (checkpoint != null) {
            checkpoint.publisher().fail(reason);
        }
    }

    /**
     * Publishes what waits, in each no longer than the settings say, and ends all threads. Others
     * may have news meanwhile, so it holds no lock.
     */
    void close() {
        for (Checkpoint checkpoint : byRoot.values()) {
            try {
                checkpoint.publisher().close();
            } catch (IOException e) {
                LOG.error("Shutdown with files that are not published; batches run again", e);
            }
        }
        byRoot.clear();
        deleteAll(directory);
    }

    /** Ends all threads, and publishes nothing any more, as a crash would. */
    void abandon() {
        byRoot.values().forEach(c -> c.publisher().abandon());
    }

    List<PublishMetrics> metrics() {
        return byRoot.values().stream().map(c -> c.publisher().metrics()).toList();
    }

    private static void deleteAll(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> deepestFirst = new ArrayList<>(files.toList());
            deepestFirst.sort(Comparator.reverseOrder());
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            LOG.warn("Local copies in {} are left: delete the directory", directory, e);
        }
    }
}
