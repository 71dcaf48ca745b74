/**
 * Word count without an engine: the words, and what their counts must be. Knows no Kafka, so that
 * commands can plan and report runs that other processes do.
 */
@NullMarked
package io.afterbay.workloads.wordcount;

import org.jspecify.annotations.NullMarked;
