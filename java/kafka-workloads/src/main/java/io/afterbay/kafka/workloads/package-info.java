/** Word count on Kafka Streams, and a Kafka broker within a process, for tests and examples. */
@NullMarked
package io.afterbay.kafka.workloads;

import org.jspecify.annotations.NullMarked;
