/**
 * Kafka Streams on RocksDB, with the flushes and compactions of its stores kept apart. Brings
 * neither Kafka nor RocksDB: the application has both.
 */
@NullMarked
package io.afterbay.kafka;

import org.jspecify.annotations.NullMarked;
