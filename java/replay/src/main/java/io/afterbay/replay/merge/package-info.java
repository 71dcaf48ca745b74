/**
 * Merges what a replay writes with what the live job writes to the same log, so that of each key
 * the row that should be in the table is the last one in the log. The live job is another process
 * and knows nothing of it.
 *
 * <p>{@link io.afterbay.replay.merge.KeyMerge} is how; {@link io.afterbay.replay.merge.Merging}
 * does it for all keys, within a job; {@link io.afterbay.replay.merge.MergeGraph} puts that there.
 * {@link io.afterbay.replay.merge.Resolver} is what developers give. Nothing here knows what the
 * log is.
 */
@NullMarked
package io.afterbay.replay.merge;

import org.jspecify.annotations.NullMarked;
