/**
 * The four queries of the experiments about micro-batches (MiSA, Cluster Computing '25), as far as
 * no engine is needed: their input by the clock, their answers, and what processes tell each other
 * of a run.
 */
@NullMarked
package io.afterbay.workloads.microbatch;

import org.jspecify.annotations.NullMarked;
