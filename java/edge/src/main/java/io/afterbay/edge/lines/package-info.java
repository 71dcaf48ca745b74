/**
 * Tables of Flink's in files that grow while they are read, and results with the time at which they
 * came: for jobs in this process. Of a table in a topic of Kafka's, its options only.
 */
@NullMarked
package io.afterbay.edge.lines;

import org.jspecify.annotations.NullMarked;
