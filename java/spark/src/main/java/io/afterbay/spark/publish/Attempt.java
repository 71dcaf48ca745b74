package io.afterbay.spark.publish;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Works once on a file, without the lock of the {@link Publisher}: from its local copy to the
 * storage, or from where it is staged.
 */
record Attempt(Storage storage, Bandwidth.Share bandwidth, Publisher.Time time) {

    /**
     * What became of it.
     *
     * @param problem what went wrong, or null; {@link FileAlreadyExistsException} if the file is
     *     another's
     * @param staged what lies in the storage and is not seen: the result of {@link Step#STAGE}, or
     *     what is of no use any more
     */
    record Outcome(@Nullable IOException problem, @Nullable Staged staged) {}

    /**
     * @param hadOthers whether another attempt may have had its effect: one that failed, was given
     *     up, or goes on
     */
    Outcome run(Worker worker, PendingFile file, BooleanSupplier hadOthers) {
        Staged staged = worker.staged;
        try {
            switch (worker.step) {
                case STAGE -> {
                    return new Outcome(null, stage(worker, file));
                }
                case WRITE -> write(worker, file);
                case REVEAL -> Objects.requireNonNull(staged).reveal();
            }
            return new Outcome(null, null);
        } catch (FileAlreadyExistsException e) {
            return new Outcome(isOurs(file, hadOthers, e), staged);
        } catch (IOException e) {
            return new Outcome(e, staged);
        } catch (Exception e) { // Scala throws checked ones that it does not declare
            return new Outcome(new IOException(e), staged);
        }
    }

    private Staged stage(Worker worker, PendingFile file) throws IOException {
        checkLocal(file);
        try (InputStream content = Files.newInputStream(file.local)) {
            return storage.stage(
                    file.target, worker.paced(content, bandwidth, time), file.overwrites);
        }
    }

    private void write(Worker worker, PendingFile file) throws IOException {
        checkLocal(file);
        try (InputStream content = Files.newInputStream(file.local)) {
            storage.write(file.target, worker.paced(content, bandwidth, time), file.overwrites);
        }
    }

    private static void checkLocal(PendingFile file) throws IOException {
        long size = Files.size(file.local);
        if (size != file.bytes) {
            throw new IOException(
                    "local copy " + file.local + " has " + size + " of " + file.bytes + " bytes");
        }
    }

    /**
     * No two state files have one name, so the same bytes are of this attempt, too: a client that
     * repeats a rename whose answer was lost finds what it has renamed.
     */
    private @Nullable IOException isOurs(
            PendingFile file, BooleanSupplier hadOthers, FileAlreadyExistsException exists) {
        try {
            boolean mayBe = file.kind == Kind.STATE || hadOthers.getAsBoolean();
            return mayBe && storage.isSame(file.target, file.local) ? null : exists;
        } catch (IOException | RuntimeException e) {
            return new IOException(file.target + " is there, and cannot be read", e);
        }
    }
}
