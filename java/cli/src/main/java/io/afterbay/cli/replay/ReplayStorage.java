package io.afterbay.cli.replay;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.StoragePath;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.flink.FlinkFileSystems;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/**
 * Where the job of a replay has its checkpoints, and is told something: the replay's own directory,
 * or a place in any of Flink's file systems that a cluster reaches, too.
 */
final class ReplayStorage {
    private final @Nullable URI elsewhere;
    private final Path directory;

    private ReplayStorage(@Nullable URI elsewhere, Path directory) {
        this.elsewhere = elsewhere;
        this.directory = directory;
    }

    /**
     * @param directory of the replay
     */
    static ReplayStorage of(ReplayPlan plan, EngineSettings engine, Path directory)
            throws CommandFailure {
        String storage = plan.storage();
        if (storage == null) {
            return new ReplayStorage(null, directory);
        }
        FlinkFileSystems.initialize(engine.properties());
        String root = StoragePath.uri(storage).toString();
        return new ReplayStorage(
                URI.create((root.endsWith("/") ? root : root + "/") + plan.id()), directory);
    }

    URI checkpoints() {
        return in("checkpoints", directory);
    }

    /** Of savepoints of the live job. */
    URI savepoints() {
        return in("savepoints", directory);
    }

    URI control() {
        return control(directory);
    }

    /**
     * @param beside the replay's directory, while it is made
     */
    URI control(Path beside) {
        return in("control", beside);
    }

    private URI in(String name, Path beside) {
        return elsewhere == null
                ? beside.resolve(name).toUri()
                : URI.create(elsewhere + "/" + name);
    }

    /**
     * Checks that no other replay has left anything there, which would be taken for this one's.
     *
     * @throws CommandFailure if one has
     */
    void requireUnused() throws CommandFailure {
        if (elsewhere != null && isThereAnythingAt(elsewhere)) {
            throw new CommandFailure(
                    "--checkpoint-dir: %s has files of another replay of that name: choose another --id or --checkpoint-dir, or delete them if that replay has ended"
                            .formatted(elsewhere));
        }
    }

    private static boolean isThereAnythingAt(URI place) throws CommandFailure {
        try {
            var path = new org.apache.flink.core.fs.Path(place);
            FileStatus[] found = path.getFileSystem().listStatus(path);
            return found != null && found.length > 0;
        } catch (FileNotFoundException e) {
            return false;
        } catch (IOException e) {
            throw new CommandFailure(
                    "--checkpoint-dir: %s: %s".formatted(place, CommandFailure.reason(e)), e);
        }
    }

    void removeCheckpoints() throws CommandFailure {
        delete(checkpoints());
    }

    /** All that is not in the replay's directory. */
    void remove() throws CommandFailure {
        if (elsewhere != null) {
            delete(elsewhere);
        }
    }

    private static void delete(URI place) throws CommandFailure {
        try {
            var path = new org.apache.flink.core.fs.Path(place);
            FileSystem files = path.getFileSystem();
            if (files.exists(path)) {
                files.delete(path, true);
            }
        } catch (IOException e) {
            throw new CommandFailure(place + ": " + CommandFailure.reason(e), e);
        }
    }
}
