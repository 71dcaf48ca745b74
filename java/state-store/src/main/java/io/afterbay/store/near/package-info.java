/**
 * Triggers that are near in time, or were added of late, in a small block of memory before the tree
 * that holds the rest. Knows no pages.
 */
@NullMarked
package io.afterbay.store.near;

import org.jspecify.annotations.NullMarked;
