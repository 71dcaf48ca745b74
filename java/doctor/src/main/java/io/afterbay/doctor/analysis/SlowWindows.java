package io.afterbay.doctor.analysis;

/**
 * What ran while events of slow windows waited: from so long before a window as its latency is, to
 * so long after it.
 *
 * @param limitMs above which a window is slow: twice the median
 * @param count of slow windows
 * @param together during which two or more instances compacted
 * @param inGcPauses of which pauses of the garbage collector explain half of the latency or more; 0
 *     without its log
 */
public record SlowWindows(double limitMs, int count, int together, int inGcPauses) {}
