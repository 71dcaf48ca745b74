/** How micro-batches of Spark commit. */
@NullMarked
package io.afterbay.experiments.spark;

import org.jspecify.annotations.NullMarked;
