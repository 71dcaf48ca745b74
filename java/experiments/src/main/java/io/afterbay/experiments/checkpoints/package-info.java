/** What checkpoints cost, and how long they take as the state grows. */
@NullMarked
package io.afterbay.experiments.checkpoints;

import org.jspecify.annotations.NullMarked;
