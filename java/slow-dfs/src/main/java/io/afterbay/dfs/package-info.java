/** A file system of Hadoop's that is as slow as one at the end of a network, for experiments. */
@NullMarked
package io.afterbay.dfs;

import org.jspecify.annotations.NullMarked;
