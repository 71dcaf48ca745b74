/**
 * Pages: the lowest layer. Variable-size pages in a bounded amount of off-heap memory, evicted to
 * an append-only segment log, frozen page by page for snapshots. Knows nothing of keys.
 */
@NullMarked
package io.afterbay.store.page;

import org.jspecify.annotations.NullMarked;
