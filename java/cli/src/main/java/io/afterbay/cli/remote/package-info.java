/** A running Flink cluster through its REST interface. */
@NullMarked
package io.afterbay.cli.remote;

import org.jspecify.annotations.NullMarked;
