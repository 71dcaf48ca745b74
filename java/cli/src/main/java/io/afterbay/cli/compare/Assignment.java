package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;

/**
 * What a worker of a comparison is to do, beyond the command line.
 *
 * @param backend see {@link Backend#named}
 * @param pair number of the round; 0 is not counted
 * @param warmUpMs how long the job runs before anything is counted
 * @param ratePerS of the open loop, or 0 for no open loop
 * @param latencyMs how long the open loop is counted
 */
record Assignment(String backend, int pair, long warmUpMs, double ratePerS, long latencyMs) {}
