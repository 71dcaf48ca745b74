package io.afterbay.flink.it.job;

import java.io.Serializable;

/**
 * How fast and how far a reader goes.
 *
 * @param perSecond postings per second and partition
 * @param holdAt the position at which each partition waits, so that a job does not end while a test
 *     still wants something from it
 * @param release path of a file that ends the waiting; empty for never
 */
record Pace(int perSecond, int holdAt, String release) implements Serializable {}
