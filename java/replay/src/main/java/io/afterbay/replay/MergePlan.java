package io.afterbay.replay;

import io.afterbay.replay.merge.Resolver;

/**
 * How the output of a replay is merged with that of the live job.
 *
 * @param sinceMs rows of the live job that are in its output since then count, milliseconds since
 *     1970 in the timestamps of the output
 */
public record MergePlan(Resolver resolver, long sinceMs) {}
