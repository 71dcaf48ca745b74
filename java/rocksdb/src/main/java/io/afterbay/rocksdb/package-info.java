/**
 * Keeps the flushes and compactions of a process's RocksDB instances apart, with the policies of
 * {@link io.afterbay.maintenance} and RocksDB's public Java interface. Knows no engine, and brings
 * no native library.
 *
 * <p>A binding meets {@link io.afterbay.rocksdb.Desync}.
 */
@NullMarked
package io.afterbay.rocksdb;

import org.jspecify.annotations.NullMarked;
