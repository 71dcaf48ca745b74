package io.afterbay.replay;

import org.apache.flink.api.connector.source.SourceEvent;

/**
 * From the enumerator to a reader: its share of the rate from now on.
 *
 * @param recordsPerSecond 0 for none, infinity for all that there is
 */
record PaceEvent(double recordsPerSecond) implements SourceEvent {}
