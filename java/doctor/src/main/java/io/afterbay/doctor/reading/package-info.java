/**
 * Info logs of RocksDB, line by line: flushes and compactions as intervals, options and stalls.
 *
 * <p>What RocksDB writes and when is in its {@code logging/event_logger.h}, {@code
 * db/flush_job.cc}, {@code db/compaction/compaction_job.cc} and {@code db/column_family.cc}; the
 * parts that are read here are the same from version 6 to 11.
 */
@NullMarked
package io.afterbay.doctor.reading;

import org.jspecify.annotations.NullMarked;
