/** A slow, far and broken link between two programs of this machine. */
@NullMarked
package io.afterbay.edge.link;

import org.jspecify.annotations.NullMarked;
