/** Jobs that show and measure the store, with the right answers beside them. */
@NullMarked
package io.afterbay.workloads;

import org.jspecify.annotations.NullMarked;
