package io.afterbay.store.redo;

import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/**
 * A segment of a redo log to which nothing is added any more.
 *
 * @param log identity of the log
 * @param number in the log, from 1
 * @param path of its file
 * @param bytes length of the file when it is written
 * @param written completes when it is, or exceptionally with a {@link
 *     io.afterbay.store.StateStoreException} that names the file
 */
public record RedoSegment(
        UUID log, long number, Path path, long bytes, CompletionStage<Void> written) {}
