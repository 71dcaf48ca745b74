package io.afterbay.spark.publish;

/**
 * What a {@link Publisher} has done and holds.
 *
 * @param files published
 * @param bytes of them
 * @param failures of attempts that were repeated
 * @param restarts of threads that had died or hung
 * @param hedges writes that were begun a second time, because they took unusually long
 * @param waitingFiles now
 * @param waitingBytes now
 * @param waitingFilesMost ever
 */
public record PublishMetrics(
        long files,
        long bytes,
        long failures,
        long restarts,
        long hedges,
        int waitingFiles,
        long waitingBytes,
        int waitingFilesMost) {}
