package io.afterbay.spark.publish;

/**
 * What all {@link Publisher}s of a process share, however many checkpoints its queries write.
 *
 * @param room for what waits
 * @param bandwidth of what is uploaded
 */
public record ProcessLimits(Room room, Bandwidth bandwidth) {}
