/**
 * Updates of keyed values: a job whose state has a known size and changes at a known rate, for
 * experiments about checkpoints and recovery.
 *
 * <pre>
 *   UpdateSource -> key of event n -> UpdateFunction: one value for each key -> UpdateJournal
 *   one reader      UpdateKeys        count, and bytes that follow from it      sampled counts,
 *   paced by                                                                    moments of a restart
 *   UpdateStatistics
 *      |
 *      +-------> UpdateReference: the same counts without an engine
 * </pre>
 *
 * <p>The first events write each key once, which builds the state. The others update one key each,
 * any of them alike.
 */
@NullMarked
package io.afterbay.workloads.updates;

import org.jspecify.annotations.NullMarked;
