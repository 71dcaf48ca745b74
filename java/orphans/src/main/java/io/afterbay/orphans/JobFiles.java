package io.afterbay.orphans;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.apache.flink.core.fs.Path;

/** The files that a job has in checkpoint storage, referred to or not. */
final class JobFiles {
    /** Where a file is, which tells how it came to be there. */
    enum Place {
        /** In {@code shared/}: uploaded by a checkpoint. */
        SHARED,

        /** In directories below these: of file merging or ForSt, may be in use for long. */
        NESTED,

        /** In {@code taskowned/}: perhaps referred to by the content of states. */
        TASK_OWNED,

        /** In the directory of a checkpoint. */
        CHECKPOINT
    }

    /**
     * A file that is no {@code _metadata}.
     *
     * @param checkpoint whose directory it is in; -1 for none
     */
    record Found(StoredFile file, Place place, long checkpoint) {}

    /**
     * The directory of a checkpoint.
     *
     * @param metadataMs when it was complete; {@link #INCOMPLETE} if it is not
     * @param modifiedMs of what is newest in it
     */
    record Checkpoint(long id, Path path, long metadataMs, long modifiedMs) {
        static final long INCOMPLETE = -1;

        boolean isComplete() {
            return metadataMs != INCOMPLETE;
        }
    }

    private static final int PROGRESS_FILES = 1000;

    private final Path directory;
    private final Consumer<String> progress;
    private final List<Found> files = new ArrayList<>();
    private final List<Checkpoint> checkpoints = new ArrayList<>();
    private final List<Path> links = new ArrayList<>();
    private long modifiedMs;

    private JobFiles(Path directory, Consumer<String> progress) {
        this.directory = directory;
        this.progress = progress;
    }

    static JobFiles list(Path directory, Consumer<String> progress) throws IOException {
        JobFiles job = new JobFiles(directory, progress);
        for (Storage.Entry entry : Storage.list(directory)) {
            if (entry.isLink()) {
                job.links.add(entry.path());
            } else if (entry.isDirectory()) {
                job.directory(entry);
            }
        }
        return job;
    }

    private void directory(Storage.Entry entry) throws IOException {
        OptionalLong checkpoint = JobLayout.checkpointId(entry.name());
        if (checkpoint.isPresent()) {
            checkpoint(checkpoint.getAsLong(), entry);
        } else if (entry.name().equals(JobLayout.SHARED)) {
            files(entry.path(), Place.SHARED);
        } else if (entry.name().equals(JobLayout.TASK_OWNED)) {
            files(entry.path(), Place.TASK_OWNED);
        }
    }

    private void files(Path parent, Place place) throws IOException {
        for (Storage.Entry entry : listIfThere(parent)) {
            if (entry.isOwnDirectory()) {
                files(entry.path(), Place.NESTED);
            } else {
                add(entry, place, -1);
            }
        }
    }

    /** A job that ends deletes directories, too. */
    private static List<Storage.Entry> listIfThere(Path directory) throws IOException {
        try {
            return Storage.list(directory);
        } catch (FileNotFoundException e) {
            return List.of();
        }
    }

    private void checkpoint(long id, Storage.Entry entry) throws IOException {
        long metadata = Checkpoint.INCOMPLETE;
        long newest = entry.modifiedMs();
        for (Storage.Entry file : listIfThere(entry.path())) {
            newest = Math.max(newest, file.modifiedMs());
            if (file.isOwnFile() && file.name().equals(JobLayout.METADATA)) {
                metadata = file.modifiedMs();
            } else if (!file.isOwnDirectory()) {
                add(file, Place.CHECKPOINT, id);
            }
        }
        checkpoints.add(new Checkpoint(id, entry.path(), metadata, newest));
        modifiedMs = Math.max(modifiedMs, newest);
    }

    private void add(Storage.Entry entry, Place place, long checkpoint) {
        if (entry.isLink()) {
            links.add(entry.path());
            return;
        }
        files.add(new Found(entry.file(), place, checkpoint));
        modifiedMs = Math.max(modifiedMs, entry.modifiedMs());
        if (files.size() % PROGRESS_FILES == 0) {
            progress.accept("%s: %,d files found".formatted(directory, files.size()));
        }
    }

    Path directory() {
        return directory;
    }

    List<Found> files() {
        return files;
    }

    List<Checkpoint> checkpoints() {
        return checkpoints;
    }

    /** Symbolic links, which are neither followed nor deleted. */
    List<Path> links() {
        return links;
    }

    /** When the job last wrote anything. */
    long modifiedMs() {
        return modifiedMs;
    }
}
