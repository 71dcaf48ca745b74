/** The way of the whole job: all that sites see goes to the cloud. */
@NullMarked
package io.afterbay.edge.raw;

import org.jspecify.annotations.NullMarked;
