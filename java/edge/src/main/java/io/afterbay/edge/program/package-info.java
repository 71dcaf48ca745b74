/**
 * The program of the sites, as processes: it decides where a plan is cut, and runs the lower half.
 */
@NullMarked
package io.afterbay.edge.program;

import org.jspecify.annotations.NullMarked;
