/** Flink's metrics of the jobs in this process, read where they are counted. */
@NullMarked
package io.afterbay.cli.metrics;

import org.jspecify.annotations.NullMarked;
