/**
 * Finds out from the logs of RocksDB whether its instances work at the same time. Needs no engine.
 *
 * <pre>
 *  Doctor (the program)
 *    reading: logs, latencies, pauses of the collector  ->  what happened when
 *    analysis: what happened together, what waited      ->  a diagnosis, what to set
 *    report: text, JSON, a page      live: the same from counters of a running process
 * </pre>
 */
@NullMarked
package io.afterbay.doctor;

import org.jspecify.annotations.NullMarked;
