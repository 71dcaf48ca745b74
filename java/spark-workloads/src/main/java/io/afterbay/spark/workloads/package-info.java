/** The queries of MiSA on Spark, at a rate, on a file system that is slow if need be. */
@NullMarked
package io.afterbay.spark.workloads;

import org.jspecify.annotations.NullMarked;
