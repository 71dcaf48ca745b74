package io.afterbay.spark;

import io.afterbay.spark.CheckpointFiles.Role;
import io.afterbay.spark.LocalFirstStream.Handover;
import io.afterbay.spark.publish.Publisher;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes changelogs and the logs of a query behind the micro-batch, in the order of
 * docs/spark-commit.md, and everything else as Spark does. Spark makes one for each directory that
 * it writes; those of one checkpoint share a {@link Publisher}.
 *
 * <p>Reads see what is not published yet. Deletions wait until all that was written before is.
 *
 * <p>Closing does nothing, as with Spark's own: the publisher goes on with the file manager below.
 *
 * <p>Spark's trait declares no exceptions; callers expect the {@link IOException}s of Hadoop.
 */
public final class AfterbayCheckpointFileManager implements CheckpointFileManager {
    private static final Logger LOG = LoggerFactory.getLogger(AfterbayCheckpointFileManager.class);
    private static final long NONE = -1;

    private final CheckpointFileManager files;
    private final Checkpoints checkpoints;

    /** Null where there is nothing of a checkpoint to publish. */
    private final @Nullable Checkpoint checkpoint;

    private final QueryOptions options;
    private volatile boolean isChecked;

    /** The last log file that was written to this directory, by this run of the query. */
    private volatile long lastBatch = NONE;

    /** Called by Spark, with the settings of the session. */
    public AfterbayCheckpointFileManager(Path path, Configuration settings) {
        this(
                path,
                QuerySettings.underlying(path, settings),
                checked(path, settings),
                QueryOptions.of(settings));
    }

    AfterbayCheckpointFileManager(
            Path path, CheckpointFileManager files, Checkpoints checkpoints, QueryOptions options) {
        this.files = files;
        this.checkpoints = checkpoints;
        this.options = options;
        String location = CheckpointFiles.location(path);
        this.checkpoint =
                location == null
                        ? null
                        : checkpoints.get(location, new FileManagerStorage(files, path));
    }

    private static Checkpoints checked(Path path, Configuration settings) {
        Checkpoints checkpoints = Checkpoints.process();
        if (checkpoints == null) {
            throw new IllegalStateException(
                    "checkpoint "
                            + path
                            + ": the plug-in is missing. "
                            + AfterbaySparkPlugin.howToAdd(plugins()));
        }
        QuerySettings.check(settings);
        return checkpoints;
    }

    private static String plugins() {
        SparkEnv application = SparkEnv.get();
        return application == null ? "" : application.conf().get("spark.plugins", "");
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwrites) {
        Role role = checkpoint == null ? Role.OTHER : checkpoint.role(path);
        if (checkpoint == null || !checkpoint.peers().publishes(role)) {
            if (checkpoint != null && role == Role.SOURCE_OTHER && !options.isPipelined()) {
                drain(checkpoint);
            }
            return files.createAtomic(path, overwrites);
        }
        if (isNumbered(role, path)) {
            lastBatch = Long.parseLong(path.getName());
        }
        Handover handover =
                role == Role.STATE
                        ? new StateFile(checkpoint, path, options)
                        : new LogFile(checkpoint, path, role, overwrites, options);
        return LocalFirstStream.create(checkpoint.locals(), handover);
    }

    @Override
    public FSDataInputStream open(Path path) {
        boolean isOffsets = checkpoint != null && checkpoint.role(path) == Role.OFFSETS;
        return isOffsets && options.isStaggered() ? namingOurs(path) : openAsItIs(path);
    }

    private FSDataInputStream namingOurs(Path offsets) {
        try (FSDataInputStream in = openAsItIs(offsets)) {
            return ProviderInLog.namingOurs(in);
        } catch (IOException e) {
            throw Rethrown.as(e);
        }
    }

    private FSDataInputStream openAsItIs(Path path) {
        java.nio.file.Path local = find(path);
        if (local != null) {
            try {
                return LocalCopies.open(local);
            } catch (FileNotFoundException e) {
                // Published meanwhile, and removed.
            } catch (IOException e) {
                throw Rethrown.as(e);
            }
        }
        return openPublished(path);
    }

    private FSDataInputStream openPublished(Path path) {
        try {
            return files.open(path);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            if (!(e instanceof FileNotFoundException) || !mayComeYet(path)) {
                throw Rethrown.as(e);
            }
        }
        awaitState(path);
        return files.open(path);
    }

    /** A commit that is not published may name it, and another executor have it. */
    private boolean mayComeYet(Path path) {
        return options.isPipelined()
                && checkpoint != null
                && checkpoint.peers().haveState()
                && checkpoint.role(path) == Role.STATE;
    }

    private void awaitState(Path path) {
        Checkpoint of = Objects.requireNonNull(checkpoint);
        long batch = CheckpointFiles.batch(CheckpointFiles.state(CheckpointFiles.path(path)));
        try {
            of.peers().awaitPublished(of, CheckpointFiles.commit(of.root(), batch));
        } catch (IOException e) {
            throw Rethrown.as(e);
        }
    }

    @Override
    public boolean exists(Path path) {
        return find(path) != null || !followsOurs(path) && files.exists(path);
    }

    /**
     * Spark asks before it adds to a log. Behind a file of our own there is none, unless a second
     * query uses the checkpoint; then publishing finds it, since it replaces no file.
     */
    private boolean followsOurs(Path path) {
        return checkpoint != null
                && lastBatch != NONE
                && isNumbered(checkpoint.role(path), path)
                && Long.parseLong(path.getName()) == lastBatch + 1;
    }

    private static boolean isNumbered(Role role, Path path) {
        return role == Role.OFFSETS
                || role == Role.COMMIT
                || role == Role.SOURCE && CheckpointFiles.isLog(path.getName());
    }

    private java.nio.file.@Nullable Path find(Path path) {
        try {
            return checkpoint == null
                    ? null
                    : checkpoint.publisher().find(CheckpointFiles.path(path));
        } catch (IOException e) {
            throw Rethrown.as(e);
        }
    }

    @Override
    public FileStatus[] list(Path path, PathFilter filter) {
        if (checkpoint == null) {
            return files.list(path, filter);
        }
        switch (path.getName()) {
            case "offsets" -> {
                checkQuery(checkpoint, path.getParent());
                awaitEnd(checkpoint, path.getParent());
            }
            case "commits" -> {
                RunningQuery.refuseOtherOrders(); // continuous mode begins here
                awaitEnd(checkpoint, path.getParent());
            }
            default -> {}
        }
        Map<String, FileStatus> found = waiting(checkpoint, path, filter); // first: it may move
        for (FileStatus status : published(path, filter, found.isEmpty())) {
            found.put(status.getPath().getName(), status);
        }
        return found.values().toArray(FileStatus[]::new);
    }

    /**
     * Offsets are what a query of micro-batches lists first. It begins when all that a run before
     * has written here is published: a batch whose offsets wait would run again at once, and reach
     * the sink before anybody else can know where it ends.
     */
    private void checkQuery(Checkpoint of, Path root) {
        RunningQuery.refuseOtherOrders();
        if (options.isPipelined()) {
            RunningQuery.refuseUnlessReplayable(options.replayableSources());
        }
        if (!isChecked) {
            drain(of);
            try {
                CheckpointFormat.refuseState1(files, root);
            } catch (IOException e) {
                throw Rethrown.as(e);
            }
            isChecked = true;
        }
    }

    /** When a query has ended, all is published that it has written, and nothing is any more. */
    private void awaitEnd(Checkpoint of, Path root) {
        String query = RunningQuery.atEnd(root, () -> checkpoints.end(of));
        if (query != null) {
            of.publisher().resume(); // a run before may have ended
            LOG.info(
                    "Afterbay publishes the checkpoint of query {} behind its batches, in {} mode: {}",
                    query,
                    options.isPipelined() ? "pipelined" : "strict",
                    of.location());
        }
    }

    private FileStatus[] published(Path path, PathFilter filter, boolean mustExist) {
        try {
            return files.list(path, filter);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            if (e instanceof FileNotFoundException && !mustExist) {
                return new FileStatus[0];
            }
            throw Rethrown.as(e);
        }
    }

    private static Map<String, FileStatus> waiting(
            Checkpoint checkpoint, Path directory, PathFilter filter) {
        Map<String, FileStatus> result = new LinkedHashMap<>();
        try {
            for (Publisher.Waiting file : checkpoint.publisher().waiting()) {
                Path path = new Path(directory, new Path(file.target()).getName());
                if (CheckpointFiles.path(path).equals(file.target()) && filter.accept(path)) {
                    addStatus(result, file.local(), path);
                }
            }
        } catch (IOException e) {
            throw Rethrown.as(e);
        }
        return result;
    }

    private static void addStatus(
            Map<String, FileStatus> found, java.nio.file.Path local, Path path) throws IOException {
        try {
            found.put(path.getName(), LocalCopies.status(local, path));
        } catch (FileNotFoundException e) {
            // Published meanwhile: the storage lists it.
        }
    }

    /** Also of files that are published: what waits may need them at a restart until it is. */
    @Override
    public void delete(Path path) {
        if (checkpoint != null) {
            drain(checkpoint);
        }
        files.delete(path);
    }

    private static void drain(Checkpoint checkpoint) {
        try {
            checkpoint.publisher().awaitPublished();
        } catch (IOException e) {
            throw Rethrown.as(e);
        }
    }

    @Override
    public void mkdirs(Path path) {
        files.mkdirs(path);
    }

    @Override
    public boolean isLocal() {
        return files.isLocal();
    }

    @Override
    public Path createCheckpointDirectory() {
        return files.createCheckpointDirectory();
    }
}
