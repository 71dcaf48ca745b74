/**
 * Standardization, the job that LinkedIn reprocesses most (Samza, VLDB 2017, sections 3.2.2 and
 * 3.4.2): titles that members write into their profiles become titles of a dictionary. A new
 * dictionary is there now and then, and all profiles are standardised once more, while members go
 * on changing them.
 *
 * <pre>
 *   ProfileChanges -> ProfileSource -> newest of its -> Standardize -> TitleRows
 *   a snapshot, then  one reader       member           by version     one instance:
 *   changes; each a                                     1 or 2         latency, exact file
 *   function of its
 *   number
 *      |
 *      +------------> ProfilesAnswer: the same without an engine
 * </pre>
 *
 * <p>The same job on topics of Kafka is in the module {@code flink-kafka-workloads}.
 */
@NullMarked
package io.afterbay.workloads.profiles;

import org.jspecify.annotations.NullMarked;
