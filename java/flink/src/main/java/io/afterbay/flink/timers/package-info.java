/** Flink's timer queues on top of a trigger schedule. */
@NullMarked
package io.afterbay.flink.timers;

import org.jspecify.annotations.NullMarked;
