/**
 * Workloads on Flink whose records come from topics of Kafka and go to such. The job's jar has the
 * connector in it, as jars of users have.
 *
 * <pre>
 *   ProfileFeed -> topic of profiles -> ProfilesJob, or the  -> topic of titles
 *   a snapshot,    by member            same as a script        of each member,
 *   then changes   |                    of SQL                  the last row counts
 *                  |                                            |
 *                  +-----> ProfilesAnswer ------> TitlesCheck <-+
 * </pre>
 */
@NullMarked
package io.afterbay.flink.kafka.workloads;

import org.jspecify.annotations.NullMarked;
