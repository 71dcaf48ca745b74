package io.afterbay.orphans;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.flink.runtime.checkpoint.Checkpoints;

/** Checkpoint storage as jobs leave it, made by hand. */
public final class StorageFixture {
    private final Path root;

    /**
     * @param root of several jobs
     */
    public StorageFixture(Path root) {
        this.root = root;
    }

    /** The directory of a job with a number. */
    public Path job(int number) throws IOException {
        Path job = root.resolve("%032x".formatted(number));
        Files.createDirectories(job.resolve("shared"));
        Files.createDirectories(job.resolve("taskowned"));
        return job;
    }

    /** A file of ten bytes that was written so long ago. */
    public static Path file(Path directory, Duration age) throws IOException {
        Path file = Files.createDirectories(directory).resolve(UUID.randomUUID().toString());
        Files.writeString(file, "0123456789");
        return aged(file, age);
    }

    /** Makes a file or directory look so old. */
    public static Path aged(Path path, Duration age) throws IOException {
        return Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(age)));
    }

    /**
     * A complete checkpoint that refers to these files.
     *
     * @return its {@code _metadata}
     */
    public static Path checkpoint(Path directory, Duration age, Path... shared) throws IOException {
        Path metadata = Files.createDirectories(directory).resolve("_metadata");
        List<org.apache.flink.core.fs.Path> files =
                Arrays.stream(shared)
                        .map(file -> new org.apache.flink.core.fs.Path(file.toUri()))
                        .toList();
        try (OutputStream out = Files.newOutputStream(metadata)) {
            Checkpoints.storeCheckpointMetadata(AllHandles.of(files), out);
        }
        aged(metadata, age);
        aged(directory, age);
        return metadata;
    }
}
