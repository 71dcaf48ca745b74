/** A job in halves and as a whole while its data is made, over links that are slow and break. */
@NullMarked
package io.afterbay.edge.live;

import org.jspecify.annotations.NullMarked;
