/**
 * A job in halves and as a whole, on this machine: what goes from sites to Flink, and what comes
 * out.
 */
@NullMarked
package io.afterbay.edge.run;

import org.jspecify.annotations.NullMarked;
