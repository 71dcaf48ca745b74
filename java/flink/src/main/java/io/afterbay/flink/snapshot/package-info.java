/**
 * Checkpoints and savepoints: our own format ({@code spec/flink-snapshot.md}) and Flink's canonical
 * one, written and restored.
 */
@NullMarked
package io.afterbay.flink.snapshot;

import org.jspecify.annotations.NullMarked;
