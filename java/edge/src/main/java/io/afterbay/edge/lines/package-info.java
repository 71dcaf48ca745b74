/**
 * Tables of Flink's in files that grow while they are read, and results with the time at which they
 * came: for jobs in this process.
 */
@NullMarked
package io.afterbay.edge.lines;

import org.jspecify.annotations.NullMarked;
