/**
 * Files in checkpoint storage that no checkpoint refers to, and their removal.
 *
 * <p>A file is kept if any {@code _metadata} that can be found names it. What could be named by a
 * {@code _metadata} that is not there yet, or that cannot be read, is kept as well; see {@link
 * io.afterbay.orphans.OrphanRules}.
 */
@NullMarked
package io.afterbay.orphans;

import org.jspecify.annotations.NullMarked;
