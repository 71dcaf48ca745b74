package io.afterbay.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;

/** A directory that gets a file now and then, with the steps of a {@link StatefulQuery}. */
final class InputFiles implements Input {
    private static final long FIRST_TIME = System.currentTimeMillis() - TimeUnit.DAYS.toMillis(1);

    private final Path directory;
    private int steps;

    InputFiles(Path directory) {
        this.directory = directory;
    }

    @Override
    public int steps() {
        return steps;
    }

    /** Spark reads files in the order of their times: each is later than the one before. */
    @Override
    public void add(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            Path hidden = directory.resolve("." + steps);
            Files.writeString(hidden, StatefulQuery.file(steps));
            Files.setLastModifiedTime(hidden, FileTime.fromMillis(FIRST_TIME + steps * 1_000L));
            Files.move(hidden, directory.resolve(steps + ".csv"), StandardCopyOption.ATOMIC_MOVE);
            steps++;
        }
    }
}
