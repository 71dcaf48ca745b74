/** The topology, and what it leaves on the disk: all that is in its jar beside the library. */
@NullMarked
package io.afterbay.storm.it.job;

import org.jspecify.annotations.NullMarked;
