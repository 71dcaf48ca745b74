package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file once, from its local copy to the storage, without the lock of the {@link
 * Publisher}.
 *
 * @param clock in nanoseconds
 */
record Attempt(Storage storage, Bandwidth bandwidth, LongSupplier clock) {

    /**
     * @param hadOthers whether another attempt may have had its effect: one that failed, was given
     *     up, or goes on
     * @return what went wrong, or null; {@link FileAlreadyExistsException} if the file is another's
     */
    @Nullable IOException run(Worker worker, PendingFile file, BooleanSupplier hadOthers) {
        try {
            checkLocal(file);
            try (InputStream content = Files.newInputStream(file.local)) {
                storage.write(
                        file.target, worker.paced(content, bandwidth, clock), file.overwrites);
            }
            return null;
        } catch (FileAlreadyExistsException e) {
            return isOurs(file, hadOthers, e);
        } catch (IOException e) {
            return e;
        } catch (RuntimeException e) {
            return new IOException(e);
        }
    }

    private static void checkLocal(PendingFile file) throws IOException {
        long size = Files.size(file.local);
        if (size != file.bytes) {
            throw new IOException(
                    "local copy " + file.local + " has " + size + " of " + file.bytes + " bytes");
        }
    }

    private @Nullable IOException isOurs(
            PendingFile file, BooleanSupplier hadOthers, FileAlreadyExistsException exists) {
        try {
            return hadOthers.getAsBoolean() && storage.isSame(file.target, file.local)
                    ? null
                    : exists;
        } catch (IOException | RuntimeException e) {
            return new IOException(file.target + " is there, and cannot be read", e);
        }
    }
}
