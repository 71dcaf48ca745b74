/** Flink's keyed states (value, list, map, reducing, aggregating) on top of a state store. */
@NullMarked
package io.afterbay.flink.state;

import org.jspecify.annotations.NullMarked;
