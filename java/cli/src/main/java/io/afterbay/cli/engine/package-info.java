/**
 * Flink: in a process of ours or on a cluster, how it is configured, and how much memory it has.
 */
@NullMarked
package io.afterbay.cli.engine;

import org.jspecify.annotations.NullMarked;
