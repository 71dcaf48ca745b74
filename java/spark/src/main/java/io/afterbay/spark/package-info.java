/** Spark Structured Streaming: what a micro-batch writes is published behind it, in order. */
@NullMarked
package io.afterbay.spark;

import org.jspecify.annotations.NullMarked;
