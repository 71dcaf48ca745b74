package io.afterbay.spark.publish;

/**
 * What a {@link Publisher} has done and holds.
 *
 * @param files published
 * @param bytes of them
 * @param failures of attempts that were repeated
 * @param restarts of threads that had died or hung
 * @param waitingFiles now
 * @param waitingBytes now
 * @param waitingFilesMost ever
 */
public record PublishMetrics(
        long files,
        long bytes,
        long failures,
        long restarts,
        int waitingFiles,
        long waitingBytes,
        int waitingFilesMost) {}
