/** RocksDB's instances that flush and compact together, and cures of that. */
@NullMarked
package io.afterbay.experiments.desync;

import org.jspecify.annotations.NullMarked;
