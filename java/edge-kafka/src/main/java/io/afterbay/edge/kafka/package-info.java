/**
 * What one would do without this project: a Kafka producer at each site, and Flink on its topic.
 * For comparisons only.
 */
@NullMarked
package io.afterbay.edge.kafka;

import org.jspecify.annotations.NullMarked;
