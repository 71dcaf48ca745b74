/**
 * The redo log: what changed in a store since a snapshot, to be applied to a copy of that snapshot
 * (format: spec/redo-log.md).
 */
@NullMarked
package io.afterbay.store.redo;

import org.jspecify.annotations.NullMarked;
