/** Ordered entries and chains of bytes on pages. Knows key groups and hashes, not states. */
@NullMarked
package io.afterbay.store.tree;

import org.jspecify.annotations.NullMarked;
