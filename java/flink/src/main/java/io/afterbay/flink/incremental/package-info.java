/**
 * Incremental checkpoints (ADR 0017): a base, which is an image of the store, and the redo log of
 * what changed since. {@link io.afterbay.flink.incremental.IncrementalSnapshots} decides what a
 * checkpoint consists of, {@link io.afterbay.flink.incremental.IncrementalSnapshotStrategy} writes
 * it, {@link io.afterbay.flink.incremental.RestoredCheckpoint} reads it. Format: {@code
 * spec/checkpoint-manifest.md}.
 */
@NullMarked
package io.afterbay.flink.incremental;

import org.jspecify.annotations.NullMarked;
