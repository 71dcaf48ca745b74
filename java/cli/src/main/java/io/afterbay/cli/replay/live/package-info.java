/**
 * The live job beside which a replay runs: whether it is the same job, how it is, and which rate of
 * the replay leaves it in peace. What it knows comes from the REST interface of the live job's
 * cluster.
 */
@NullMarked
package io.afterbay.cli.replay.live;

import org.jspecify.annotations.NullMarked;
